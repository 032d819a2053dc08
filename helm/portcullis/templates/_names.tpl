{{- /* Names and labels. */}}

{{- define "portcullis.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{- define "portcullis.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- $name := include "portcullis.name" . -}}
{{- if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "portcullis.selectorLabels" -}}
app.kubernetes.io/name: {{ include "portcullis.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "portcullis.labels" -}}
{{ include "portcullis.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "portcullis.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "portcullis.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end }}

{{- /* The reference of an image: a dict of `root` and `image`. A digest wins over a tag. */}}
{{- define "portcullis.image" -}}
{{- if .image.digest -}}
{{- printf "%s@%s" .image.repository .image.digest -}}
{{- else -}}
{{- printf "%s:%s" .image.repository (.image.tag | default .root.Chart.AppVersion) -}}
{{- end -}}
{{- end }}

{{- /* The ports that Envoy itself listens on in a pod, as a JSON array. */}}
{{- define "portcullis.ownPorts" -}}
[9901, 9902, 10000, 10443]
{{- end }}

{{- /* "yes" if this chart's own Envoy stands in front of services, in a Deployment. */}}
{{- define "portcullis.isGateway" -}}
{{- if and (eq .Values.mesh "none") (ne .Values.topology "sidecar") -}}yes{{- end -}}
{{- end }}

{{- define "portcullis.isSidecar" -}}
{{- if and (eq .Values.mesh "none") (eq .Values.topology "sidecar") -}}yes{{- end -}}
{{- end }}
