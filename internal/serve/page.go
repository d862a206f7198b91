package serve

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // the script, the style and the templates
	"encoding/base64"
	"errors"
	"html"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plimsoll-bench/plimsoll/result"
)

var (
	//go:embed assets/live.js
	liveJS string
	//go:embed assets/served.css
	servedCSS string
	//go:embed assets/pages.html.tmpl
	templates string

	pageHTML = template.Must(template.New("").Parse(templates))
)

// page answers with the report at a place, which is a folder or the report file in it.
func (s *Server) page(w http.ResponseWriter, r *http.Request, at string) {
	place := strings.TrimSuffix(strings.TrimSuffix(at, result.ReportFile), "/")
	dirs, err := s.find(place)
	if err != nil {
		s.fail(w, err)
		return
	}
	if at != "" && !strings.HasSuffix(at, "/") && path.Base(at) != result.ReportFile {
		// The links of a page are relative to its folder.
		http.Redirect(w, r, (&url.URL{Path: r.URL.Path + "/"}).String(), http.StatusSeeOther)
		return
	}
	s.show(w, r, view{place, dirs, s.bar(place), s.running(dirs)})
}

// view is a report to show.
type view struct {
	key   string // of the page among the kept ones; the place, where it is live
	dirs  []string
	links []link
	live  bool // the page follows the files
}

// show answers with a report.
func (s *Server) show(w http.ResponseWriter, r *http.Request, v view) {
	frame := frame{Links: v.links, Live: v.live, Script: template.JS(liveJS),
		Events: "/events?" + url.Values{"of": {v.key}}.Encode()}
	var body []byte
	var err error
	if len(v.dirs) == 0 {
		err = errNothing
		frame.Version = s.pages.version(v.key, v.dirs, !v.live)
	} else {
		body, frame.Version, err = s.pages.get(r.Context(), v.key, v.dirs, !v.live)
	}
	w.Header().Set("ETag", `"`+frame.Version+`"`)
	if err != nil {
		// The browser loads this page as a whole when there is another version.
		frame.Whole = true
		code := http.StatusUnprocessableEntity
		if v.live {
			code = http.StatusOK
		}
		s.write(w, code, "sentence", sentence{frame, sentenceOf(err)})
		return
	}
	body, policy, err := dress(body, frame)
	if err != nil {
		s.fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policy)
	_, _ = w.Write(body)
}

var errNothing = errors.New("nothing is measured yet: the experiment is starting")

// frame is what the server adds to a report.
type frame struct {
	Links   []link
	Live    bool
	Whole   bool
	Version string
	Events  string
	Script  template.JS
}

// sentence is a page with one sentence.
type sentence struct {
	frame

	Words string
}

var metaPolicy = regexp.MustCompile(
	`<meta http-equiv="Content-Security-Policy" content="([^"]*)">\n?`)

// dress adds the bar, its style and the script to a report. The policy in the report's head forbids
// them, so it becomes a header that allows them: their hashes, and requests to this server.
func dress(page []byte, f frame) (dressed []byte, policy string, err error) {
	meta := metaPolicy.FindSubmatchIndex(page)
	if meta == nil {
		return nil, "", errors.New("the report has no policy in its head")
	}
	rules := html.UnescapeString(string(page[meta[2]:meta[3]]))
	page = append(append([]byte{}, page[:meta[0]]...), page[meta[1]:]...)
	var bar, script bytes.Buffer
	if err := errors.Join(pageHTML.ExecuteTemplate(&bar, "bar", f),
		pageHTML.ExecuteTemplate(&script, "script", f)); err != nil {
		return nil, "", err
	}
	style := []byte("<style>" + servedCSS + "</style>")
	for _, put := range []struct {
		before string
		what   []byte
	}{{"</head>", style}, {"<main", bar.Bytes()}, {"</body>", script.Bytes()}} {
		at := bytes.Index(page, []byte(put.before))
		if put.before == "</body>" {
			at = bytes.LastIndex(page, []byte(put.before))
		}
		if at < 0 {
			return nil, "", errors.New("the report has no " + put.before)
		}
		page = append(page[:at:at], append(put.what, page[at:]...)...)
	}
	rules = allow(rules, "style-src", hash(servedCSS))
	if f.Live {
		rules = allow(allow(rules, "script-src", hash(liveJS)), "connect-src", "'self'")
	}
	return page, allow(rules, "frame-ancestors", "'none'"), nil
}

// allow adds a source to a directive of a policy.
func allow(policy, directive, source string) string {
	var rules []string
	for rule := range strings.SplitSeq(policy, ";") {
		if rule = strings.TrimSpace(rule); strings.HasPrefix(rule, directive+" ") {
			source = strings.TrimSuffix(strings.TrimPrefix(rule, directive+" "), "'none'") + " " +
				source
			continue
		}
		rules = append(rules, rule)
	}
	return strings.Join(append(rules, directive+" "+strings.TrimSpace(source)), "; ")
}

// hash is the name of an inline element in a policy.
func hash(content string) string {
	sum := sha256.Sum256([]byte(content))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

// write answers with a page of the server's own.
func (s *Server) write(w http.ResponseWriter, code int, name string, data any) {
	style := s.options.Style + servedCSS
	var out bytes.Buffer
	if err := pageHTML.ExecuteTemplate(&out, name, struct {
		Style template.CSS
		Data  any
	}{template.CSS(style), data}); err != nil {
		http.Error(w, "the page cannot be rendered: "+err.Error(),
			http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src "+hash(style)+
		"; script-src "+hash(liveJS)+"; connect-src 'self'; form-action 'self'; "+
		"base-uri 'none'; frame-ancestors 'none'")
	w.WriteHeader(code)
	_, _ = out.WriteTo(w)
}

// refuse answers with a sentence.
func (s *Server) refuse(w http.ResponseWriter, code int, words string) {
	s.write(w, code, "sentence", sentence{Words: words})
}

// fail answers with an error.
func (s *Server) fail(w http.ResponseWriter, err error) {
	code := http.StatusUnprocessableEntity
	switch {
	case errors.Is(err, fs.ErrNotExist):
		code = http.StatusNotFound
	case errors.Is(err, fs.ErrPermission):
		code = http.StatusForbidden
	}
	s.write(w, code, "sentence", sentence{frame{Links: s.bar("")}, sentenceOf(err)})
}

// sentenceOf is an error as a sentence.
func sentenceOf(err error) string {
	words := err.Error()
	first, size := utf8.DecodeRuneInString(words)
	return string(unicode.ToUpper(first)) + words[size:] + "."
}
