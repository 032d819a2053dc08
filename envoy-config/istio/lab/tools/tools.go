// Package tools names the programs of Istio that .ci/setup-istio builds; go.mod pins them.
package tools

import (
	_ "istio.io/istio/istioctl/cmd"
	_ "istio.io/istio/pilot/cmd/pilot-agent/app"
	_ "istio.io/istio/pilot/cmd/pilot-discovery/app"
)
