{{- /* Secrets reach Envoy as files of mounted Secrets, which small documents of its secret discovery point at: what is
       mounted anew is read anew. Nothing secret is in a ConfigMap, in a container's environment or in a policy. */}}

{{- /* The Secrets that are mounted: a JSON object of their use by their name. */}}
{{- define "portcullis.secrets" -}}
{{- $certificates := list -}}
{{- $authorities := list -}}
{{- $credentials := dict -}}
{{- $certificates = concat $certificates (.Values.listener.tls.secretNames | default list) -}}
{{- with .Values.listener.tls.clientCaSecretName }}{{- $authorities = append $authorities . -}}{{- end -}}
{{- range $name, $upstream := .Values.upstreams -}}
{{- with $upstream.tls -}}
{{- $authorities = append $authorities .caSecretName -}}
{{- with .clientSecretName }}{{- $certificates = append $certificates . -}}{{- end -}}
{{- end -}}
{{- with $upstream.credential -}}{{- $_ := set $credentials $name . -}}{{- end -}}
{{- end -}}
{{- dict "certificates" ($certificates | uniq | sortAlpha) "authorities" ($authorities | uniq | sortAlpha)
    "credentials" $credentials | toJson -}}
{{- end }}

{{- /* The names of all of them. */}}
{{- define "portcullis.secretNames" -}}
{{- $secrets := include "portcullis.secrets" . | fromJson -}}
{{- $names := concat $secrets.certificates $secrets.authorities -}}
{{- range $secrets.credentials }}{{- $names = append $names .secretName -}}{{- end -}}
{{- $names | uniq | sortAlpha | toJson -}}
{{- end }}

{{- /* The documents of secret discovery, as entries of a ConfigMap. */}}
{{- define "portcullis.secretDocuments" -}}
{{- $secrets := include "portcullis.secrets" . | fromJson -}}
{{- range $secrets.certificates }}
certificate-{{ . }}.yaml: |
  resources:
  - "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
    name: {{ . }}
    tls_certificate:
      certificate_chain: { filename: /etc/portcullis/secrets/{{ . }}/tls.crt }
      private_key: { filename: /etc/portcullis/secrets/{{ . }}/tls.key }
      watched_directory: { path: /etc/portcullis/secrets/{{ . }} }
{{- end }}
{{- range $secrets.authorities }}
ca-{{ . }}.yaml: |
  resources:
  - "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
    name: {{ . }}
    validation_context:
      trusted_ca: { filename: /etc/portcullis/secrets/{{ . }}/ca.crt }
      watched_directory: { path: /etc/portcullis/secrets/{{ . }} }
{{- end }}
{{- range $name, $credential := $secrets.credentials }}
{{ $name }}-credential.yaml: |
  resources:
  - "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret
    name: {{ $name }}-credential
    generic_secret:
      secret:
        filename: /etc/portcullis/secrets/{{ $credential.secretName }}/{{ $credential.key }}
        watched_directory: { path: /etc/portcullis/secrets/{{ $credential.secretName }} }
{{- end }}
{{- end }}
