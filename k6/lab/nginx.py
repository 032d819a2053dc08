"""nginx as a proxy: a peer that is measured beside Envoy where it is installed."""

from __future__ import annotations

from pathlib import Path
from typing import List

from . import paths
from .envoy import Ports

_CONFIG = """
daemon off;
# One process: the lab takes the account of one. So nginx takes part where one worker does.
master_process off;
pid {folder}/nginx.pid;
error_log {folder}/nginx-error.log warn;
events {{ worker_connections 20000; }}
http {{
    access_log off;
    client_body_temp_path {folder}/nginx-body;
    proxy_temp_path {folder}/nginx-proxy;
    fastcgi_temp_path {folder}/nginx-fastcgi;
    uwsgi_temp_path {folder}/nginx-uwsgi;
    scgi_temp_path {folder}/nginx-scgi;
    client_max_body_size 4m;
    client_body_buffer_size 4m;
    proxy_buffers 16 64k;
    proxy_buffer_size 64k;
    keepalive_requests 100000000;
    upstream echo {{
        server 127.0.0.1:{echo};
        keepalive 5000;
        keepalive_requests 100000000;
    }}
    server {{
        listen 127.0.0.1:{gateway};
        location / {{
            proxy_pass http://echo;
            proxy_http_version 1.1;
            proxy_set_header Connection "";
        }}
    }}
}}
"""


def prepare(folder: Path, ports: Ports) -> List[str]:
    """Writes the configuration and gives the command."""
    config = folder / "nginx.conf"
    text = _CONFIG.format(folder=folder, echo=ports.echo, gateway=ports.gateway)
    config.write_text(text, encoding="utf-8")
    return [str(paths.nginx()), "-e", str(folder / "nginx-start.log"), "-p", str(folder), "-c", str(config)]
