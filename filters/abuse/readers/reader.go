// What a Go program sees of a request behind net/http and as a CGI program of net/http/cgi, as JSON; see the README
// beside this file.
package main

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/cgi"
	"net/url"
	"os"
	"strings"
)

type answer struct {
	Seen  [][2]string `json:"seen"`
	Query [][2]string `json:"query"`
	JSON  [][2]string `json:"json"`
}

func (a *answer) see(fields http.Header) {
	for name, values := range fields {
		for _, value := range values {
			a.Seen = append(a.Seen, [2]string{name, value})
		}
	}
}

func actsAs(task any) string {
	if task == "admin" || task == "user" {
		return task.(string)
	}
	return "other"
}

func jsonViews(body []byte) [][2]string {
	views := [][2]string{}
	var fields struct {
		Task any `json:"task"`
	}
	if json.Unmarshal(body, &fields) == nil {
		views = append(views, [2]string{"struct", actsAs(fields.Task)})
	}
	var members map[string]any
	if json.Unmarshal(body, &members) == nil {
		views = append(views, [2]string{"map", actsAs(members["task"])})
	}
	return views
}

func show(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	a := answer{Seen: [][2]string{}, Query: [][2]string{}, JSON: jsonViews(body)}
	a.see(r.Header)
	a.see(r.Trailer)
	if os.Getenv("GATEWAY_INTERFACE") != "" {
		for _, variable := range os.Environ() {
			name, value, _ := strings.Cut(variable, "=")
			a.Seen = append(a.Seen, [2]string{name, value})
		}
	}
	// What cannot be parsed is left out, as it is by r.URL.Query and r.FormValue.
	values, _ := url.ParseQuery(r.URL.RawQuery)
	for name, list := range values {
		for _, value := range list {
			a.Query = append(a.Query, [2]string{name, value})
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(a)
}

func main() {
	handler := http.Handler(http.HandlerFunc(show))
	if os.Getenv("GATEWAY_INTERFACE") != "" {
		if err := cgi.Serve(handler); err != nil {
			log.Fatal(err)
		}
		return
	}
	if os.Args[2] == "cgi" {
		handler = &cgi.Handler{Path: os.Args[0]}
	}
	log.Fatal(http.ListenAndServe("127.0.0.1:"+os.Args[1], handler))
}
