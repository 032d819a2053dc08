{{- /* The version of MutatingAdmissionPolicy that the cluster serves; empty if none. */}}
{{- define "portcullis.mutatingAdmissionVersion" -}}
{{- $root := . -}}
{{- $found := "" -}}
{{- range list "v1" "v1beta1" "v1alpha1" -}}
{{- if $root.Capabilities.APIVersions.Has (printf "admissionregistration.k8s.io/%s/MutatingAdmissionPolicy" .) -}}
{{- $found = $found | default . -}}
{{- end -}}
{{- end -}}
{{- $found -}}
{{- end }}

{{- /* Envoy's configuration with a mark where the application's port belongs. */}}
{{- define "portcullis.injectedConfig" -}}
{{- $context := dict "Values" .Values "Files" .Files "Chart" .Chart "Release" .Release "Capabilities" .Capabilities
      "Template" .Template "appPort" "@APP_PORT@" -}}
{{- include "portcullis.envoyConfig" $context | replace "$" "$$" -}}
{{- end }}

{{- /* A value as a CEL expression. A map with the one key `$cel` stands for the expression in it. In the API server's
       dialect the values of a map have one type: `dyn` makes it so. */}}
{{- define "portcullis.cel" -}}
{{- if kindIs "map" . -}}
{{- if hasKey . "$cel" -}}
{{- get . "$cel" -}}
{{- else -}}
{{- $members := list -}}
{{- range $key, $value := . -}}
{{- $members = append $members (printf "%s: dyn(%s)" (toJson $key) (include "portcullis.cel" $value)) -}}
{{- end -}}
{{- printf "{%s}" (join ", " $members) -}}
{{- end -}}
{{- else if kindIs "slice" . -}}
{{- $elements := list -}}
{{- range . -}}
{{- $elements = append $elements (printf "dyn(%s)" (include "portcullis.cel" .)) -}}
{{- end -}}
{{- printf "[%s]" (join ", " $elements) -}}
{{- else -}}
{{- toJson . -}}
{{- end -}}
{{- end }}
