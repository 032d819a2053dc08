"""What is tried in the cluster, one module for each way to use the chart. Each has its STEPS, in their order."""
