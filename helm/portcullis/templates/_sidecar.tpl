{{- /* What another chart includes to give its pods the sidecar. It has this chart as a dependency with `topology:
       sidecar`, and passes its context, `.Subcharts.portcullis`. docs/install-helm.md has an example. */}}

{{- define "portcullis.appPort" -}}
{{- .appPort | default (int .Values.sidecar.appPort) -}}
{{- end }}

{{- define "portcullis.sidecar.isNative" -}}
{{- if eq .Values.sidecar.kind "native" -}}yes
{{- else if and (eq .Values.sidecar.kind "auto") (semverCompare ">=1.29.0-0" .Capabilities.KubeVersion.Version) -}}yes
{{- end -}}
{{- end }}

{{- /* Entries of the pod's `initContainers`. */}}
{{- define "portcullis.sidecar.initContainers" -}}
{{- include "portcullis.initContainers" . }}
{{- if include "portcullis.sidecar.isNative" . }}
- {{ include "portcullis.envoyContainer" (dict "root" . "configuration" "mounted") | nindent 2 | trim }}
  restartPolicy: Always
{{- end }}
{{- end }}

{{- /* Entries of the pod's `containers`: none where the sidecar is native. */}}
{{- define "portcullis.sidecar.containers" -}}
{{- if not (include "portcullis.sidecar.isNative" .) }}
- {{ include "portcullis.envoyContainer" (dict "root" . "configuration" "mounted") | nindent 2 | trim }}
{{- end }}
{{- end }}

{{- /* The application's `lifecycle.preStop`. All hooks of a pod start at once, and Envoy passes requests on while it drains:
       the application has to be there for as long. It asks Envoy itself, by the program in the modules' volume, which
       `portcullis.sidecar.volumeMounts` mounts; where there is no such volume it sleeps. */}}
{{- define "portcullis.sidecar.preStop" -}}
{{- if eq .Values.modules.source "init-container" -}}
exec:
  command:
  {{- include "portcullis.drain" . | nindent 2 }}
{{- else if semverCompare ">=1.30.0-0" .Capabilities.KubeVersion.Version -}}
sleep: { seconds: {{ max 1 (int .Values.drainSeconds) }} }
{{- else -}}
{{- fail "modules.source envoy-image: before Kubernetes 1.30 the application's preStop cannot sleep by itself: use init-container, or a hook of the application's own for drainSeconds" -}}
{{- end -}}
{{- end }}

{{- /* Entries of the application's `volumeMounts`, for `portcullis.sidecar.preStop`; may be none. */}}
{{- define "portcullis.sidecar.volumeMounts" -}}
{{- include "portcullis.modulesMount" . }}
{{- end }}

{{- /* Entries of the pod's `volumes`. */}}
{{- define "portcullis.sidecar.volumes" -}}
{{- include "portcullis.volumes" . }}
{{- end }}

{{- /* Annotations of the pod, which replace it when the configuration changes. */}}
{{- define "portcullis.sidecar.annotations" -}}
portcullis/config: {{ include "portcullis.checksum" . }}
{{- end }}
