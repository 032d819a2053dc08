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

{{- /* The keys of each that are used: a JSON object of lists by the Secrets' names. Nothing else of a Secret is mounted,
       and without one of these keys the pod does not start. */}}
{{- define "portcullis.secretKeys" -}}
{{- $secrets := include "portcullis.secrets" . | fromJson -}}
{{- $keys := dict -}}
{{- range $secrets.certificates -}}
{{- $_ := set $keys . (list "tls.crt" "tls.key") -}}
{{- end -}}
{{- range $secrets.authorities -}}
{{- $_ := set $keys . (append (get $keys . | default list) "ca.crt") -}}
{{- end -}}
{{- range $secrets.credentials -}}
{{- $_ := set $keys .secretName (append (get $keys .secretName | default list) .key | uniq) -}}
{{- end -}}
{{- $keys | toJson -}}
{{- end }}

{{- /* A bootstrap for `envoy --mode validate` with the certificates and keys in it. By secret discovery Envoy takes a
       file that it cannot use for one that has not come yet, and gets ready all the same; here it says what is wrong.
       Nothing listens at these addresses. */}}
{{- define "portcullis.secretsConfig" -}}
{{- $secrets := include "portcullis.secrets" . | fromJson -}}
{{- $tls := .Values.listener.tls -}}
static_resources:
  listeners:
  {{- if $tls.secretNames }}
  - name: certificates
    address:
      socket_address: { address: 127.0.0.1, port_value: 10443 }
    filter_chains:
    - filters:
      - name: envoy.filters.network.tcp_proxy
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.filters.network.tcp_proxy.v3.TcpProxy
          stat_prefix: certificates
          cluster: nowhere
      transport_socket:
        name: envoy.transport_sockets.tls
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
          common_tls_context:
            tls_certificates:
            {{- range $tls.secretNames }}
            {{- include "portcullis.certificateFiles" . | nindent 12 }}
            {{- end }}
            {{- with $tls.clientCaSecretName }}
            validation_context:
              trusted_ca: { filename: /etc/portcullis/secrets/{{ . }}/ca.crt }
            {{- end }}
  {{- else }} []
  {{- end }}
  clusters:
  - name: nowhere
    type: STATIC
  {{- range $name, $upstream := .Values.upstreams }}
  {{- with $upstream.tls }}
  - name: {{ $name }}
    type: STATIC
    transport_socket:
      name: envoy.transport_sockets.tls
      typed_config:
        "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.UpstreamTlsContext
        common_tls_context:
          {{- with .clientSecretName }}
          tls_certificates:
          {{- include "portcullis.certificateFiles" . | nindent 10 }}
          {{- end }}
          validation_context:
            trusted_ca: { filename: /etc/portcullis/secrets/{{ .caSecretName }}/ca.crt }
  {{- end }}
  {{- end }}
{{- end }}

{{- define "portcullis.certificateFiles" -}}
- certificate_chain: { filename: /etc/portcullis/secrets/{{ . }}/tls.crt }
  private_key: { filename: /etc/portcullis/secrets/{{ . }}/tls.key }
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
{{- if or $secrets.certificates $secrets.authorities }}
secrets.yaml: |
  {{- include "portcullis.secretsConfig" . | nindent 2 }}
{{- end }}
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
