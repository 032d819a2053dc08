{{- /* Containers and volumes of a pod that runs Envoy with the policies. */}}

{{- define "portcullis.securityContext" -}}
runAsNonRoot: true
runAsUser: {{ int64 .Values.runAs.user }}
runAsGroup: {{ int64 .Values.runAs.group }}
readOnlyRootFilesystem: true
allowPrivilegeEscalation: false
capabilities: { drop: [ALL] }
seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- /* Puts the modules, and the program that drains Envoy, into the pod. */}}
{{- define "portcullis.modulesContainer" -}}
name: portcullis-modules
image: {{ include "portcullis.image" (dict "root" . "image" .Values.modules.image) | quote }}
imagePullPolicy: {{ .Values.modules.image.pullPolicy }}
args: [install, /volume, gateway.wasm]
securityContext:
  {{- include "portcullis.securityContext" . | nindent 2 }}
resources:
  # Equal, so that the pod is of the class Guaranteed if Envoy's are.
  requests: { cpu: 100m, memory: 32Mi }
  limits: { cpu: 100m, memory: 32Mi }
volumeMounts:
# Not where the modules lie in this image: the volume would hide them.
- { name: portcullis-modules, mountPath: /volume }
{{- end }}

{{- /* Checks what the Secrets hold before Envoy starts; nothing where there are none. */}}
{{- define "portcullis.secretsContainer" -}}
{{- $secrets := include "portcullis.secrets" . | fromJson -}}
{{- if include "portcullis.secretNames" . | fromJsonArray -}}
name: portcullis-secrets
image: {{ include "portcullis.image" (dict "root" . "image" .Values.envoy.image) | quote }}
imagePullPolicy: {{ .Values.envoy.image.pullPolicy }}
command: [/opt/portcullis/portcullis-pod]
args:
- check
{{- range $secrets.credentials }}
- /etc/portcullis/secrets/{{ .secretName }}/{{ .key }}
{{- end }}
- --
{{- if or $secrets.certificates $secrets.authorities }}
- envoy
- --mode
- validate
- --config-path
- /etc/portcullis/envoy/secrets.yaml
- --log-level
- error
{{- end }}
securityContext:
  {{- include "portcullis.securityContext" . | nindent 2 }}
resources:
  {{- toYaml .Values.resources | nindent 2 }}
volumeMounts:
{{- include "portcullis.envoyMounts" . }}
{{- end }}
{{- end }}

{{- /* What runs before Envoy. */}}
{{- define "portcullis.initContainers" -}}
{{- if eq .Values.modules.source "init-container" }}
- {{ include "portcullis.modulesContainer" . | nindent 2 | trim }}
{{- end }}
{{- with include "portcullis.secretsContainer" . }}
- {{ . | nindent 2 | trim }}
{{- end }}
{{- end }}

{{- /* What Envoy's containers see of the volumes. */}}
{{- define "portcullis.envoyMounts" -}}
{{- include "portcullis.modulesMount" . }}
- { name: portcullis-envoy, mountPath: /etc/portcullis/envoy, readOnly: true }
{{- range $at, $name := include "portcullis.secretNames" . | fromJsonArray }}
- { name: secret-{{ $at }}, mountPath: /etc/portcullis/secrets/{{ $name }}, readOnly: true }
{{- end }}
{{- end }}

{{- define "portcullis.modulesMount" -}}
{{- if eq .Values.modules.source "init-container" }}
- { name: portcullis-modules, mountPath: /opt/portcullis, readOnly: true }
{{- end }}
{{- end }}

{{- /* The program that drains Envoy, as a command. */}}
{{- define "portcullis.drain" -}}
- /opt/portcullis/portcullis-pod
- drain
- "127.0.0.1:9901"
- {{ printf "%d" (int .Values.drainMinimumSeconds) | quote }}
- {{ printf "%d" (int .Values.drainSeconds) | quote }}
{{- end }}

{{- /* Envoy: a dict of `root`, and of `configuration`: `mounted`, or `environment` with the whole of it in a variable. */}}
{{- define "portcullis.envoyContainer" -}}
{{- $values := .root.Values -}}
name: envoy
image: {{ include "portcullis.image" (dict "root" .root "image" $values.envoy.image) | quote }}
imagePullPolicy: {{ $values.envoy.image.pullPolicy }}
command: [envoy]
args:
{{- if eq .configuration "mounted" }}
- --config-path
- /etc/portcullis/envoy/envoy.yaml
{{- else }}
- --config-yaml
- $(PORTCULLIS_CONFIG)
{{- end }}
- --service-cluster
- {{ include "portcullis.fullname" .root }}
- --service-node
- $(POD_NAME)
- --concurrency
- {{ include "portcullis.concurrency" .root | quote }}
- --log-level
- {{ $values.envoy.logLevel }}
# access-log writes at this level.
- --component-log-level
- wasm:info
- --disable-hot-restart
{{- range $values.envoy.extraArgs }}
- {{ . | quote }}
{{- end }}
env:
- name: POD_NAME
  valueFrom: { fieldRef: { fieldPath: metadata.name } }
ports:
{{- if ne (include "portcullis.plaintext" .root) "off" }}
- { name: http, containerPort: 10000 }
{{- end }}
{{- if $values.listener.tls.secretNames }}
- { name: https, containerPort: 10443 }
{{- end }}
- { name: health, containerPort: 9902 }
# Modules are compiled when Envoy starts, which takes its time where there is little CPU.
startupProbe:
  httpGet: { path: /ready, port: 9902 }
  periodSeconds: 1
  timeoutSeconds: 2
  failureThreshold: 120
readinessProbe:
  httpGet: { path: /ready, port: 9902 }
  periodSeconds: 3
  timeoutSeconds: 2
livenessProbe:
  httpGet: { path: /live, port: 9902 }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 6
lifecycle:
  preStop:
    exec:
      command:
      {{- include "portcullis.drain" .root | nindent 6 }}
securityContext:
  {{- include "portcullis.securityContext" .root | nindent 2 }}
resources:
  {{- toYaml $values.resources | nindent 2 }}
volumeMounts:
{{- if eq .configuration "mounted" }}
{{- include "portcullis.envoyMounts" .root }}
{{- else }}
{{- include "portcullis.modulesMount" .root }}
{{- end }}
{{- end }}

{{- /* The volumes of such a pod. */}}
{{- define "portcullis.volumes" -}}
{{- if eq .Values.modules.source "init-container" }}
- name: portcullis-modules
  emptyDir: { sizeLimit: 64Mi }
{{- end }}
- name: portcullis-envoy
  configMap: { name: {{ include "portcullis.fullname" . }} }
{{- /* Names of Secrets may be longer than those of volumes, and have dots. */}}
{{- $keys := include "portcullis.secretKeys" . | fromJson }}
{{- range $at, $name := include "portcullis.secretNames" . | fromJsonArray }}
- name: secret-{{ $at }}
  secret:
    secretName: {{ $name }}
    defaultMode: 0444
    items:
    {{- range get $keys $name }}
    - { key: {{ . }}, path: {{ . }} }
    {{- end }}
{{- end }}
{{- end }}

{{- /* Changes when anything does that Envoy reads at its start: pods are replaced then. */}}
{{- define "portcullis.checksum" -}}
{{- printf "%s%s" (include "portcullis.envoyConfig" .) (include "portcullis.secretDocuments" .) | sha256sum -}}
{{- end }}

{{- define "portcullis.terminationGracePeriod" -}}
{{- add (int .Values.drainSeconds) 10 -}}
{{- end }}
