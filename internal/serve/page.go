package serve

import (
	"bytes"
	_ "embed" // the script, the style and the templates
	"errors"
	"html/template"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/plimsoll-bench/plimsoll/internal/document"
	"github.com/plimsoll-bench/plimsoll/result"
	"github.com/plimsoll-bench/plimsoll/system/quantity"
)

var (
	//go:embed assets/live.js
	liveJS string
	//go:embed assets/served.css
	servedCSS string
	//go:embed assets/pages.html.tmpl
	templates string

	pageHTML = template.Must(template.New("").Funcs(template.FuncMap{
		"address": address, "rate": quantity.Rate, "duration": quantity.Duration,
		"minute": func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") },
		"style":  func() template.CSS { return template.CSS(document.Style() + servedCSS) },
		"script": func() template.JS { return template.JS(liveJS) },
	}).Parse(templates))

	// policy allows the style and the scripts of reports and of this server, and nothing else.
	policy = "default-src 'none'; style-src " + document.Hash(document.Style()) + " " +
		document.Hash(servedCSS) + " " + document.Hash(document.Style()+servedCSS) +
		"; script-src " + document.Hash(document.Script()) + " " + document.Hash(liveJS) +
		"; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// page answers with the report at a place, which is a folder or the report file in it.
func (s *Server) page(w http.ResponseWriter, r *http.Request) {
	at := r.PathValue("place")
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
	s.show(w, r, place, dirs, frame{Links: s.bar(place), Live: s.running(dirs)})
}

// frame has the parts that the server adds to a report.
type frame struct {
	Links   []link
	Live    bool // the page follows the files
	Whole   bool // the browser loads the page as a whole when there is another version
	Version string
	Events  string
}

// show answers with the report of directories. The key is that of the kept page; for a live page
// it is the place.
func (s *Server) show(w http.ResponseWriter, r *http.Request, key string, dirs []string, f frame) {
	f.Events = "/events?" + url.Values{"of": {key}}.Encode()
	body, version, err := s.pages.get(r.Context(), key, dirs, !f.Live)
	f.Version = version
	w.Header().Set("ETag", `"`+version+`"`)
	if err == nil {
		body, err = dress(body, f)
	}
	if err != nil {
		f.Whole = true
		code := http.StatusUnprocessableEntity
		if f.Live {
			code = http.StatusOK
		}
		s.write(w, code, "sentence", sentence{f, sentenceOf(err)})
		return
	}
	_, _ = w.Write(body)
}

// dress adds the bar, its style and the script to a report. The policy in the report's head
// forbids them: the header has another one.
func dress(page []byte, f frame) ([]byte, error) {
	var bar, script bytes.Buffer
	if err := errors.Join(pageHTML.ExecuteTemplate(&bar, "bar", f),
		pageHTML.ExecuteTemplate(&script, "script", f)); err != nil {
		return nil, err
	}
	head, rest, found := bytes.Cut(page, []byte(`<meta http-equiv="Content-Security-Policy"`))
	_, rest, closed := bytes.Cut(rest, []byte(">"))
	top, main, begun := bytes.Cut(rest, []byte("<main"))
	end := bytes.LastIndex(main, []byte("</body>"))
	if !found || !closed || !begun || end < 0 {
		return nil, errors.New("the report has no policy or no main part")
	}
	return bytes.Join([][]byte{head, []byte("<style>" + servedCSS + "</style>"), top, bar.Bytes(),
		[]byte("<main"), main[:end], script.Bytes(), main[end:]}, nil), nil
}

// sentence is a page with one sentence.
type sentence struct {
	frame

	Words string
}

// write answers with a page of the server's own.
func (*Server) write(w http.ResponseWriter, code int, name string, data any) {
	var out bytes.Buffer
	if err := pageHTML.ExecuteTemplate(&out, name, data); err != nil {
		http.Error(w, "the page cannot be rendered: "+err.Error(), http.StatusInternalServerError)
		return
	}
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

// sentenceOf is an error as a sentence, without the system's words for its cause.
func sentenceOf(err error) string {
	words := err.Error()
	for _, cause := range []error{fs.ErrNotExist, fs.ErrPermission} {
		words = strings.TrimSuffix(words, ": "+cause.Error())
	}
	first, size := utf8.DecodeRuneInString(words)
	return string(unicode.ToUpper(first)) + words[size:] + "."
}
