package serve

import (
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"maps"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
)

// guarded is a request, and its answer.
type guarded struct {
	asked

	code int
	says string
}

// places are requests with the token, and some without.
var places = map[string]guarded{
	"the list":               {asked{path: "/"}, 200, "nats"},
	"a run":                  {asked{path: "/runs/a/"}, 200, "<main>a</main>"},
	"its report":             {asked{path: "/runs/a/report.html"}, 200, "<main>a</main>"},
	"a run by a link":        {asked{path: "/runs/in/"}, 200, "<main>a</main>"},
	"a run without a slash":  {asked{path: "/runs/nested/b"}, 303, ""},
	"two runs":               {asked{path: "/compare?run=a&run=nested/b"}, 200, "a+b"},
	"one run to compare":     {asked{path: "/compare?run=a"}, 422, "1 are ticked"},
	"no token":               {asked{path: "/", anonymous: true}, 401, "Enter the token"},
	"a bearer":               {asked{path: "/", anonymous: true, head: bearer(testToken)}, 200, ""},
	"a wrong bearer":         {asked{path: "/", anonymous: true, head: bearer("wrong")}, 401, ""},
	"a wrong token":          {asked{path: "/?token=wrong"}, 401, ""},
	"no token for events":    {asked{path: "/events?of=a", anonymous: true}, 401, ""},
	"dots":                   {asked{path: "/runs/..%2f..%2fetc/"}, 403, "out of the folder"},
	"dots within":            {asked{path: "/runs/a%2f..%2f..%2fb/"}, 403, "out of the folder"},
	"a whole path":           {asked{path: "/runs/%2fetc/"}, 403, "out of the folder"},
	"a link out":             {asked{path: "/runs/out/"}, 403, "out of the folder"},
	"a file that leads out":  {asked{path: "/runs/other/"}, 403, "link run.json leads out"},
	"the trash":              {asked{path: "/runs/.trash/"}, 403, ""},
	"nothing there":          {asked{path: "/runs/nowhere/"}, 404, "not there"},
	"a file":                 {asked{path: "/runs/a/run.json"}, 404, "not a folder"},
	"a folder of runs":       {asked{path: "/runs/nested/"}, 422, "is a folder of runs"},
	"a NUL":                  {asked{path: "/runs/a%00/"}, 404, ""},
	"another page":           {asked{path: "/elsewhere"}, 404, ""},
	"dots to compare":        {asked{path: "/compare?run=../x&run=a"}, 403, ""},
	"notes of no experiment": {asked{path: "/notes/nested"}, 404, ""},
	"events of no place":     {asked{path: "/events?of=../x"}, 403, ""},
}

// origins returns requests from elsewhere to a server.
func origins(at string) map[string]guarded {
	own := map[string]string{"Origin": "http://" + at}
	foreign := map[string]string{"Origin": "http://127.0.0.1:1"}
	fetched := func(site, mode, dest string) map[string]string {
		return map[string]string{"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode,
			"Sec-Fetch-Dest": dest}
	}
	port := strings.Split(at, ":")[1]
	return map[string]guarded{
		"no token for a note":    {asked{method: "POST", path: "/notes/a", head: own, anonymous: true}, 401, ""},
		"no token for the trash": {asked{method: "POST", path: "/trash/a", head: own, anonymous: true}, 401, ""},
		"another name":           {asked{path: "/", host: "evil.example"}, 421, "another name"},
		"another name and port":  {asked{path: "/", host: "evil.example:" + port}, 421, ""},
		"localhost":              {asked{path: "/", host: "localhost:1"}, 200, ""},
		"another origin":         {asked{path: "/", head: foreign}, 403, "another server"},
		"no origin":              {asked{path: "/", head: map[string]string{"Origin": "null"}}, 403, ""},
		"a hidden address":       {asked{path: "/", head: map[string]string{"Origin": "null", "Sec-Fetch-Site": "same-origin"}}, 200, ""},
		"another scheme":         {asked{path: "/", head: map[string]string{"Origin": "https://" + at}}, 403, ""},
		"another site":           {asked{path: "/", head: fetched("cross-site", "no-cors", "image")}, 403, ""},
		"another port":           {asked{path: "/", head: fetched("same-site", "cors", "empty")}, 403, ""},
		"a frame":                {asked{path: "/", head: fetched("cross-site", "navigate", "iframe")}, 403, ""},
		"a link elsewhere":       {asked{path: "/", head: fetched("cross-site", "navigate", "document")}, 200, ""},
		"a form elsewhere":       {asked{method: "POST", path: "/trash/a", head: fetched("cross-site", "navigate", "document")}, 403, ""},
		"a form of another port": {asked{method: "POST", path: "/trash/a", head: foreign}, 403, ""},
		"a form of nobody":       {asked{method: "POST", path: "/trash/a"}, 403, ""},
		"PUT":                    {asked{method: "PUT", path: "/runs/a/"}, 405, "GET, HEAD and POST"},
		"DELETE":                 {asked{method: "DELETE", path: "/runs/a/"}, 405, ""},
		"OPTIONS":                {asked{method: "OPTIONS", path: "/"}, 405, ""},
		"a POST of a page":       {asked{method: "POST", path: "/runs/a/", head: own}, 405, ""},
		"a GET of a write":       {asked{path: "/trash/a"}, 404, "There is no page at this address"},
	}
}

// Every combination of the headers with which a browser says what caused a request. A request
// passes if it comes from a page of the server, from outside a browser, or from a link elsewhere.
func TestOriginsInEveryCombination(t *testing.T) {
	const host, mine = "127.0.0.1:8080", "http://127.0.0.1:8080"
	elsewhere := []string{"null", "https://127.0.0.1:8080", "http://127.0.0.1:8081",
		"http://127.0.0.1", "http://localhost:8080", "http://evil.example", "ftp://127.0.0.1:8080",
		mine + ".evil.example", mine + "/", "http://evil@127.0.0.1:8080", "//127.0.0.1:8080", "?"}
	for _, origin := range append(elsewhere, "", mine) {
		for _, site := range []string{"", "none", "same-origin", "same-site", "cross-site", "?"} {
			for _, fetch := range [][2]string{{"", ""}, {"navigate", "document"},
				{"navigate", "iframe"}, {"cors", "empty"}, {"no-cors", "image"},
				{"same-origin", "empty"}} {
				for _, method := range []string{"GET", "HEAD", "POST"} {
					r := httptest.NewRequest(method, mine, nil)
					r.Host = host
					for name, value := range map[string]string{"Origin": origin,
						"Sec-Fetch-Site": site, "Sec-Fetch-Mode": fetch[0],
						"Sec-Fetch-Dest": fetch[1]} {
						if value != "" {
							r.Header.Set(name, value)
						}
					}
					link := method == "GET" && fetch == [2]string{"navigate", "document"}
					near := slices.Contains([]string{"", "none", "same-origin"}, site)
					want := !slices.Contains(elsewhere, origin) && (near || link) ||
						origin == "null" && site == "same-origin"
					if passes := !foreign(r); passes != want {
						t.Errorf("%s with origin %q, site %q, %q: passes is %t", method, origin,
							site, fetch, passes)
					}
					says := origin == mine || site == "same-origin"
					if own(r) != says {
						t.Errorf("%s with origin %q, site %q: own is %t", method, origin, site,
							!says)
					}
				}
			}
		}
	}
	r := httptest.NewRequest(http.MethodPost, "https://"+host, nil)
	for origin, want := range map[string]bool{mine: true, "https://" + host: false} {
		if r.Header.Set("Origin", origin); foreign(r) != want {
			t.Errorf("with TLS, origin %q: foreign is %t", origin, !want)
		}
	}
}

func TestRequestsAreGuarded(t *testing.T) {
	f, root := folder(t)
	outside := t.TempDir()
	for name, to := range map[string]string{"out": outside, "in": filepath.Join(root, "a"),
		filepath.Join("other", "run.json"): "/etc/hostname"} {
		if err := os.Symlink(to, filepath.Join(root, name)); err != nil {
			t.Fatal(err)
		}
	}
	all := origins(f.address)
	maps.Copy(all, places)
	for name, c := range all {
		code, head, body := c.of(t, f.Server)
		if code != c.code || !strings.Contains(body, c.says) {
			t.Errorf("%s: %d, want %d with %q:\n%.600s", name, code, c.code, c.says, body)
		}
		if code == 200 && strings.Contains(body, "<main>") && (!strings.Contains(
			head.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
			head.Get("Cache-Control") != "no-store" ||
			head.Get("Referrer-Policy") != "same-origin") {
			t.Errorf("%s: %v", name, head)
		}
		if strings.Contains(body, testToken) {
			t.Errorf("%s: the body holds the token", name)
		}
	}
}

func bearer(token string) map[string]string {
	return map[string]string{"Authorization": "Bearer " + token}
}

// The token moves from the address, or the form, into a cookie.
func TestTokenMovesIntoACookie(t *testing.T) {
	f, _ := folder(t)
	give := url.Values{tokenKey: {testToken}}.Encode()
	for name, c := range map[string]struct {
		asked

		code     int
		location string
	}{
		"in the address": {asked{path: "/runs/a/?x=1&" + give, anonymous: true}, 303,
			"/runs/a/?x=1"},
		"in the form": {asked{method: "POST", path: "/enter", body: give, anonymous: true,
			head: map[string]string{"Sec-Fetch-Site": "same-origin"}}, 303, "/"},
		"to another server": {asked{path: "//evil.example/?" + give, anonymous: true}, 303,
			"/evil.example/"},
		"from a file": {asked{path: "/?" + give, anonymous: true, head: map[string]string{
			"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate",
			"Sec-Fetch-Dest": "document"}}, 200, ""},
	} {
		code, head, body := c.of(t, f.Server)
		set := head.Get("Set-Cookie")
		if code != c.code || head.Get("Location") != c.location ||
			!strings.Contains(set, "HttpOnly; SameSite=Strict") {
			t.Errorf("%s: %d to %q, %q", name, code, head.Get("Location"), set)
		}
		if c.code == 200 && !strings.Contains(body, `content="0; url=/"`) {
			t.Errorf("%s: %s", name, body)
		}
	}
	code, head, _ := asked{method: "POST", path: "/enter", body: "token=wrong", anonymous: true,
		head: map[string]string{"Sec-Fetch-Site": "same-origin"}}.of(t, f.Server)
	if code != 401 || head.Get("Set-Cookie") != "" {
		t.Errorf("a wrong token: %d, %v", code, head)
	}
}

func TestOthersNeedTLSAndAToken(t *testing.T) {
	pair := certificate(t, "bench.example")
	for name, c := range map[string]struct {
		o    Options
		says string
	}{
		"neither":       {Options{Listen: "0.0.0.0:0"}, "give a certificate"},
		"every address": {Options{Listen: ":0", Token: testToken}, "give a certificate"},
		"no token":      {Options{Listen: "0.0.0.0:0", Certificate: &pair}, "give a token"},
		"a short token": {Options{Token: "short"}, "16 characters"},
		"no address":    {Options{Listen: "8080"}, "not an address"},
		"a name":        {Options{Listen: "localhost.evil.example:0"}, "give a certificate"},
		"a high port":   {Options{Listen: "127.0.0.1:99999"}, "its port must be from 0 to 65535"},
	} {
		if f, err := OpenFolder(t.TempDir(), c.o); err == nil ||
			!strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, %v", name, f, err)
		}
	}
	f, err := OpenFolder(t.TempDir(), Options{Listen: "0.0.0.0:0", Certificate: &pair,
		Token: testToken})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if a := f.Address(); !strings.HasPrefix(a, "https://") || strings.Contains(a, "token") {
		t.Error(a)
	}
	roots := x509.NewCertPool()
	roots.AddCert(pair.Leaf)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "bench.example"}}}
	for host, want := range map[string]int{"bench.example": 200, "evil.example": 421} {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet,
			"https://127.0.0.1:"+f.address[strings.LastIndex(f.address, ":")+1:], nil)
		r.Host = host
		r.Header.Set("Authorization", "Bearer "+testToken)
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != want {
			t.Errorf("%s: %d", host, res.StatusCode)
		}
	}
}

func certificate(t *testing.T, name string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		DNSNames: []string{name}, NotAfter: time.Now().Add(time.Hour), IsCA: true,
		BasicConstraintsValid: true}
	raw, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(raw)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key, Leaf: leaf}
}
