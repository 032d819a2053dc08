{{- /* What the schema of the values cannot say: names that must be there, and things that do not go together. */}}
{{- define "portcullis.validate" -}}
{{- $root := . -}}

{{- /* Clusters that policies ask. In a mesh they are the mesh's. */ -}}
{{- if eq .Values.mesh "none" -}}
{{- range $at, $policy := .Values.policies -}}
{{- range $document := regexFindAll `"cluster":"[^"]*"` (toJson $policy) -1 -}}
{{- $cluster := (printf "{%s}" $document | fromJson).cluster -}}
{{- if not (hasKey $root.Values.upstreams $cluster) -}}
{{- fail (printf "policies[%d] asks the cluster %q, which is not one of upstreams" $at $cluster) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- /* Secrets do not belong into values, and ConfigMaps. No name tells what is one: so only what is known to be none may be
       written here. A stylesheet, a format and the like are documents, and the guide says so. */ -}}
{{- $literal := list "accept" "accept-language" "from" "user-agent" "x-scope-orgid" -}}
{{- range $at, $policy := .Values.policies -}}
{{- with index $policy "access-log" -}}
{{- range $sink := .sinks -}}
{{- if kindIs "map" $sink -}}
{{- range $header, $_ := dig "otlp" "headers" dict $sink -}}
{{- if not (has (lower $header) $literal) -}}
{{- fail (printf "policies[%d].access-log: everybody who may read ConfigMaps would see the collector's header %q. Only %s may be written here: name a Secret in upstreams.<name>.credential, and Envoy adds the header" $at $header (join ", " $literal)) -}}
{{- end -}}
{{- end -}}
{{- if contains "?" (dig "otlp" "path" "" $sink) -}}
{{- fail (printf "policies[%d].access-log: the collector's path must have no query, in which a key may stand: everybody who may read ConfigMaps would see it. Name a Secret in upstreams.<name>.credential" $at) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with index $policy "client-id" -}}
{{- range $kind, $service := .auth -}}
{{- if and (kindIs "map" $service) (contains "?" (dig "path" "" $service)) -}}
{{- fail (printf "policies[%d].client-id.auth.%s.path: must have no query, in which a key may stand: everybody who may read ConfigMaps would see it. Name a Secret in upstreams.<name>.credential" $at $kind) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- $hosts := dict -}}
{{- range $at, $entry := .Values.routes -}}
{{- range $host := $entry.hosts -}}
{{- if hasKey $hosts $host -}}
{{- fail (printf "routes[%d].hosts: %q stands in another entry already" $at $host) -}}
{{- end -}}
{{- $_ := set $hosts $host true -}}
{{- end -}}
{{- range $number, $rule := $entry.rules -}}
{{- if not (hasKey $root.Values.upstreams $rule.upstream) -}}
{{- fail (printf "routes[%d].rules[%d].upstream: %q is not one of upstreams" $at $number $rule.upstream) -}}
{{- end -}}
{{- if and $rule.route (not (include "portcullis.routeHeader" $root)) -}}
{{- fail (printf "routes[%d].rules[%d].route: no content-router among the policies names routes" $at $number) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- range $name, $upstream := .Values.upstreams -}}
{{- if or (eq $name "portcullis-admin") (and (eq $root.Values.topology "sidecar") (eq $name "app")) -}}
{{- fail (printf "upstreams.%s: this name is the chart's own" $name) -}}
{{- end -}}
{{- end -}}

{{- /* Envoy puts a credential over what is there, behind all policies. Names are alike if their letters and digits are. */ -}}
{{- $asked := dict -}}
{{- range $policy := .Values.policies -}}
{{- with dig "client-id" "auth" "per-request" "cluster" "" $policy -}}
{{- $_ := set $asked . true -}}
{{- end -}}
{{- end -}}
{{- $framing := list "connection" "content-encoding" "content-length" "content-type" "expect" "host" "http2-settings" "keep-alive" "proxy-connection" "te" "trailer" "transfer-encoding" "upgrade" -}}
{{- range $name, $upstream := .Values.upstreams -}}
{{- with $upstream.credential -}}
{{- $header := .header | default "authorization" -}}
{{- $folded := regexReplaceAll "[^a-z0-9]" (lower $header) "-" -}}
{{- if and (hasKey $asked $name) (eq $folded "authorization") -}}
{{- fail (printf "upstreams.%s.credential.header: client-id asks this cluster with the client's credentials in authorization, and this credential would take their place: the service would admit everybody. Set credential.header to another header that the service reads, x-api-key for one" $name) -}}
{{- end -}}
{{- if hasPrefix "x-portcullis-" $folded -}}
{{- fail (printf "upstreams.%s.credential.header: only policies set %q: set it to a header that the upstream reads its credential from" $name $header) -}}
{{- end -}}
{{- if has $folded $framing -}}
{{- fail (printf "upstreams.%s.credential.header: %q belongs to the connection or to framing: set it to a header that the upstream reads its credential from" $name $header) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- if lt (include "portcullis.memoryBytes" . | int64) 67108864 -}}
{{- fail (printf "resources.limits.memory: %v is less than 64 MiB, in which Envoy cannot run; is the unit missing?" .Values.resources.limits.memory) -}}
{{- end -}}

{{- if and (eq .Values.listener.plaintext "redirect") (empty .Values.listener.tls.secretNames) -}}
{{- fail "listener.plaintext: redirect goes nowhere without listener.tls.secretNames" -}}
{{- end -}}
{{- if and (eq .Values.listener.plaintext "off") (empty .Values.listener.tls.secretNames) -}}
{{- fail "listener.plaintext: off leaves no port without listener.tls.secretNames" -}}
{{- end -}}
{{- if and .Values.listener.tls.clientCaSecretName (empty .Values.listener.tls.secretNames) -}}
{{- fail "listener.tls.clientCaSecretName needs listener.tls.secretNames" -}}
{{- end -}}
{{- if and (ne (include "portcullis.plaintext" .) "off") .Values.listener.tls.secretNames (eq (int .Values.service.port) (int .Values.service.tlsPort)) -}}
{{- fail "service.tlsPort: service.port is the same" -}}
{{- end -}}
{{- if and (eq (include "portcullis.plaintext" .) "off") .Values.helmTest.requests -}}
{{- fail "helmTest.requests: they are made without TLS, and listener.plaintext is off" -}}
{{- end -}}
{{- if .Values.autoscaling.enabled -}}
{{- if gt (int .Values.autoscaling.minReplicas) (int .Values.autoscaling.maxReplicas) -}}
{{- fail "autoscaling.minReplicas must not be more than autoscaling.maxReplicas" -}}
{{- end -}}
{{- if not (or (dig "requests" "cpu" "" .Values.resources) (dig "limits" "cpu" "" .Values.resources)) -}}
{{- fail "autoscaling: without resources.requests.cpu there is nothing that its percentage is of" -}}
{{- end -}}
{{- end -}}
{{- if has (float64 .Values.sidecar.appPort) (include "portcullis.ownPorts" . | fromJsonArray) -}}
{{- fail (printf "sidecar.appPort: %d is one of the sidecar's own ports, %s" (int .Values.sidecar.appPort) (include "portcullis.ownPorts" .)) -}}
{{- end -}}
{{- range $name, $upstream := .Values.upstreams -}}
{{- if and (eq ($upstream.discovery | default "dns") "static") (not (include "portcullis.isAddress" $upstream.host)) -}}
{{- fail (printf "upstreams.%s.host: with discovery static it must be an address, and %q is none" $name $upstream.host) -}}
{{- end -}}
{{- if and (hasKey $upstream "discovery") (ne ($upstream.discovery | default "static") "static") (include "portcullis.isAddress" $upstream.host) -}}
{{- fail (printf "upstreams.%s.discovery: %q is an address: static, or nothing" $name $upstream.host) -}}
{{- end -}}
{{- end -}}
{{- if and .Values.prometheusRule.enabled (not (and (include "portcullis.isGateway" .) .Values.serviceMonitor.enabled)) -}}
{{- fail "prometheusRule: its alerts are about what serviceMonitor has scraped of a gateway: enable that too" -}}
{{- end -}}
{{- if gt (int .Values.drainMinimumSeconds) (int .Values.drainSeconds) -}}
{{- fail "drainMinimumSeconds must not be more than drainSeconds" -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (empty .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.parentRefs: name the Gateways to attach to" -}}
{{- end -}}
{{- if .Values.httpRoute.enabled -}}
{{- if ne (include "portcullis.plaintext" .) "serve" -}}
{{- fail (printf "httpRoute: a Gateway sends requests on without TLS, and listener.plaintext is %q: with serve they are taken" (include "portcullis.plaintext" .)) -}}
{{- end -}}
{{- if eq .Values.listener.proxyProtocol "required" -}}
{{- fail "httpRoute: a Gateway does not speak the PROXY protocol: listener.proxyProtocol must be off" -}}
{{- end -}}
{{- if empty .Values.httpRoute.hostnames -}}
{{- range $at, $entry := .Values.routes -}}
{{- range $host := $entry.hosts -}}
{{- if not (or (eq $host "*") (regexMatch `^(\*\.)?[a-z0-9]([-a-z0-9.]*[a-z0-9])?$` $host)) -}}
{{- fail (printf "routes[%d].hosts: an HTTPRoute cannot have %q: say in httpRoute.hostnames what it is to have" $at $host) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- if eq .Values.topology "sidecar" -}}
{{- if .Values.routes -}}
{{- fail "routes: a sidecar has one upstream, its application" -}}
{{- end -}}
{{- if .Values.httpRoute.enabled -}}
{{- fail "httpRoute: a sidecar is not attached to a Gateway" -}}
{{- end -}}
{{- end -}}
{{- if and (include "portcullis.isSidecar" .) (eq .Values.sidecar.kind "native") (semverCompare "<1.29.0-0" .Capabilities.KubeVersion.Version) -}}
{{- fail (printf "sidecar.kind: native needs Kubernetes 1.29, and this is %s" .Capabilities.KubeVersion.Version) -}}
{{- end -}}
{{- if .Values.sidecar.injection.enabled -}}
{{- if ne (include "portcullis.isSidecar" .) "yes" -}}
{{- fail "sidecar.injection: only with topology sidecar and mesh none" -}}
{{- end -}}
{{- if include "portcullis.secretNames" . | fromJsonArray -}}
{{- fail "sidecar.injection: Secrets cannot be mounted into pods of other namespaces: no TLS and no credentials here" -}}
{{- end -}}
{{- $bytes := include "portcullis.envoyConfig" . | len -}}
{{- if gt $bytes 130000 -}}
{{- fail (printf "sidecar.injection: Envoy's configuration has %d bytes; an injected one is an argument of the process, for which Linux takes 130000. Include the named templates in the application's chart" $bytes) -}}
{{- end -}}
{{- if not (include "portcullis.mutatingAdmissionVersion" .) -}}
{{- fail "sidecar.injection: this cluster has no MutatingAdmissionPolicy; include the named templates in the application's chart" -}}
{{- end -}}
{{- end -}}

{{- if eq .Values.mesh "istio" -}}
{{- if and (empty .Values.istio.selector) (empty .Values.istio.targetRefs) -}}
{{- fail "istio: say which proxies, by selector or by targetRefs" -}}
{{- end -}}
{{- if ne .Values.topology "sidecar" -}}
{{- range $at, $match := .Values.istio.match -}}
{{- if eq ($match.mode | default "CLIENT_AND_SERVER") "SERVER" -}}
{{- fail (printf "istio.match[%d]: to Istio, what a gateway takes is CLIENT: with SERVER no request would meet a policy" $at) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if include "portcullis.readsBodies" . -}}
{{- if empty .Values.istio.selector -}}
{{- fail "istio.selector: policies that read bodies are attached by an EnvoyFilter, which selects by labels" -}}
{{- end -}}
{{- if or .Values.istio.targetRefs .Values.istio.match (ne .Values.istio.phase "AUTHN") -}}
{{- fail "istio: policies that read bodies are attached by an EnvoyFilter, before Istio's own filters and to all ports: it has no targetRefs, match or other phase" -}}
{{- end -}}
{{- if empty .Values.modules.artifact.digest -}}
{{- fail "modules.artifact.digest: an EnvoyFilter, which policies that read bodies take, has no module without it" -}}
{{- end -}}
{{- if .Values.modules.artifact.pullSecret -}}
{{- fail "modules.artifact.pullSecret: an EnvoyFilter, which policies that read bodies take, has no pull secret" -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- if eq .Values.mesh "envoy-gateway" -}}
{{- if empty .Values.envoyGateway.targetRefs -}}
{{- fail "envoyGateway.targetRefs: name the Gateways or HTTPRoutes to attach to" -}}
{{- end -}}
{{- if include "portcullis.readsBodies" . -}}
{{- fail "mesh envoy-gateway: its EnvoyExtensionPolicy cannot have bodies delivered while headers are held, so policies that read request bodies would refuse every request" -}}
{{- end -}}
{{- end -}}

{{- if eq .Values.mesh "none" -}}
{{- $bytes := add (include "portcullis.envoyConfig" . | len) (include "portcullis.secretDocuments" . | len) -}}
{{- if gt $bytes 1000000 -}}
{{- fail (printf "the configuration has %d bytes; a ConfigMap takes 1000000. Policies with long documents, stylesheets for one, are what takes room" $bytes) -}}
{{- end -}}
{{- end -}}
{{- end }}
