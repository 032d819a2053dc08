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
{{- if eq .Values.modules.source "init-container" }}
- {{ include "portcullis.modulesContainer" . | nindent 2 | trim }}
{{- end }}
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

{{- /* Entries of the pod's `volumes`. */}}
{{- define "portcullis.sidecar.volumes" -}}
{{- include "portcullis.volumes" . }}
{{- end }}

{{- /* Annotations of the pod, which replace it when the configuration changes. */}}
{{- define "portcullis.sidecar.annotations" -}}
portcullis/config: {{ include "portcullis.checksum" . }}
{{- end }}
