{{- /* What follows from the policies for the Envoy around them. */}}

{{- /* The gateway module's document. */}}
{{- define "portcullis.document" -}}
{{- with .Values.maxExchangeBytes -}}
max_exchange_bytes: {{ int64 . }}
{{ end -}}
policies:
{{ toYaml .Values.policies }}
{{- end }}

{{- /* "yes" if a policy reads bodies before the request's headers go on: Envoy has to deliver them meanwhile. In JSON a
       quote inside a text is escaped, so these patterns find the names of conditions only. */}}
{{- define "portcullis.readsBodies" -}}
{{- range .Values.policies -}}
{{- if hasKey . "xslt-transform" -}}yes{{- end -}}
{{- with index . "content-router" -}}
{{- if regexMatch `"(soap-header|operation|xpath|json)":` (toJson .rules) -}}yes{{- end -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- /* The header in which the first content-router names the route. */}}
{{- define "portcullis.routeHeader" -}}
{{- $header := "" -}}
{{- range .Values.policies -}}
{{- with index . "content-router" -}}
{{- $header = $header | default (.header | default "x-portcullis-route") -}}
{{- end -}}
{{- end -}}
{{- $header -}}
{{- end }}

{{- /* Envoy chooses a route, and with it filters and upgrades, before any filter runs: this removes the headers that only
       policies may set before that. A route matches no other spelling of a name, so these are enough; the policies
       remove the others. Nothing where no policy removes such headers: then they are those of a gateway in front. */}}
{{- define "portcullis.earlyHeaderMutation" -}}
{{- $removes := "" -}}
{{- $others := list -}}
{{- range .Values.policies -}}
{{- if hasKey . "client-id" -}}{{- $removes = "yes" -}}{{- end -}}
{{- with index . "content-router" -}}
{{- $removes = "yes" -}}
{{- $header := .header | default "x-portcullis-route" | lower -}}
{{- if not (hasPrefix "x-portcullis-" $header) -}}{{- $others = append $others $header -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if $removes -}}
early_header_mutation_extensions:
- name: envoy.http.early_header_mutation.header_mutation
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.http.early_header_mutation.header_mutation.v3.HeaderMutation
    mutations:
    - remove_on_match: { key_matcher: { prefix: x-portcullis- } }
    {{- range uniq $others }}
    - remove: {{ . | quote }}
    {{- end }}
{{- end -}}
{{- end }}

{{- /* What a cache in front must know: the request headers in which client-id looks for credentials, for Vary. It takes
       them in other spellings too; these are those that clients use. */}}
{{- define "portcullis.vary" -}}
{{- $names := list -}}
{{- $spellings := list -}}
{{- range .Values.policies -}}
{{- with index . "client-id" -}}
{{- range $origin := .credentials | default (list "basic" (dict "headers" dict)) -}}
{{- if not (kindIs "map" $origin) -}}
{{- $names = append $names "authorization" -}}
{{- else if hasKey $origin "basic" -}}
{{- $names = append $names "authorization" -}}
{{- else if hasKey $origin "headers" -}}
{{- $headers := $origin.headers | default dict -}}
{{- range $name := list ($headers.id | default "client_id" | lower) ($headers.secret | default "client_secret" | lower) -}}
{{- $names = append $names $name -}}
{{- $spellings = append $spellings (regexReplaceAll "[^a-z0-9]" $name "-") -}}
{{- $spellings = append $spellings (regexReplaceAll "[^a-z0-9]" $name "_") -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- concat $names $spellings | uniq | join ", " -}}
{{- end }}

{{- /* How much of a message Envoy buffers: at least as much as the policies read of a body. */}}
{{- define "portcullis.bufferLimit" -}}
{{- if .Values.envoy.bufferLimitBytes -}}
{{- int64 .Values.envoy.bufferLimitBytes -}}
{{- else if include "portcullis.readsBodies" . -}}
{{- $bytes := 1048576 -}}
{{- range .Values.policies -}}
{{- with index . "content-router" -}}
{{- $bytes = max $bytes (dig "body" "max_bytes" 0 . | int64) -}}
{{- end -}}
{{- with index . "xslt-transform" -}}
{{- $bytes = max $bytes (dig "limits" "max_bytes" 0 . | int64) -}}
{{- $bytes = max $bytes (dig "limits" "max_output_bytes" 0 . | int64) -}}
{{- end -}}
{{- end -}}
{{- $bytes -}}
{{- else -}}
32768
{{- end -}}
{{- end }}

{{- /* The same for a stream of HTTP/2, which begins with 64 KiB. */}}
{{- define "portcullis.streamWindow" -}}
{{- max 65536 (include "portcullis.bufferLimit" . | int64) -}}
{{- end }}

{{- /* How much Envoy holds of an answer to a policy's own call: at least the longest list of clients that is accepted. */}}
{{- define "portcullis.answerLimit" -}}
{{- $bytes := 4194304 -}}
{{- range .Values.policies -}}
{{- with index . "client-id" -}}
{{- $bytes = max $bytes (dig "auth" "registry" "max_bytes" 0 . | int64) -}}
{{- end -}}
{{- end -}}
{{- $bytes -}}
{{- end }}

{{- /* The memory limit in bytes; 512 MiB without a limit. The schema lets through what this understands: a number, with a
       unit or an exponent of ten. */}}
{{- define "portcullis.memoryBytes" -}}
{{- $memory := dig "limits" "memory" "512Mi" .Values.resources | toString -}}
{{- $units := dict "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "E" 1e18 "Ki" 1024 "Mi" 1048576 "Gi" 1073741824 "Ti" 1099511627776 "Pi" 1125899906842624 "Ei" 1152921504606846976 -}}
{{- $unit := regexFind "[A-Za-z]+$" $memory -}}
{{- mulf (trimSuffix $unit $memory | float64) (get $units $unit | default 1 | float64) | int64 -}}
{{- end }}

{{- /* The CPU limit in whole CPUs, rounded up; 1 without a limit. */}}
{{- define "portcullis.concurrency" -}}
{{- if .Values.envoy.concurrency -}}
{{- int .Values.envoy.concurrency -}}
{{- else -}}
{{- $cpu := dig "limits" "cpu" "1" .Values.resources | toString -}}
{{- if hasSuffix "m" $cpu -}}
{{- max 1 (ceil (divf (trimSuffix "m" $cpu | float64) 1000)) | int -}}
{{- else -}}
{{- max 1 (ceil (float64 $cpu)) | int -}}
{{- end -}}
{{- end -}}
{{- end }}
