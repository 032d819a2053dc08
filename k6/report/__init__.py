"""The report of a run of the lab: a page that needs nothing beside it, pictures of its charts, and for each claim a file
with the measurements that it rests on. README.md in k6/lab says how to make it."""
