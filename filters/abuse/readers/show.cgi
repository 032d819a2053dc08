#!/usr/bin/python3 -IS
"""What a CGI program sees of a request, as JSON: its environment (RFC 3875, section 4.1); see the README beside this file."""

import json
import os
import sys

text = lambda value: value.decode("utf-8", "replace")
seen = [[text(name), text(value)] for name, value in os.environb.items()]
sys.stdout.write("Content-Type: application/json\r\n\r\n" + json.dumps({"seen": seen}))
