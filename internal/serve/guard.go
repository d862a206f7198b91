package serve

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/admission"
)

const (
	tokenKey  = "token" // in an address and in the form
	enterPath = "/enter"
	cookieAge = 7 * 24 * 60 * 60 // seconds
)

// guard lets a request pass if it names this server, has the token, and comes from a page of this
// server or from outside a browser.
func (s *Server) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Content-Type", "text/html; charset=utf-8")
		h.Set("Content-Security-Policy", policy)
		h.Set("Cache-Control", "no-store")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, forms send the origin "null"
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Connection", "close") // unless the request has the token
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
		bearer, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch {
		case !s.named(r.Host):
			s.refuse(w, http.StatusMisdirectedRequest, "This server has another name.")
		case r.Method != http.MethodGet && r.Method != http.MethodHead &&
			r.Method != http.MethodPost:
			h.Set("Allow", "GET, HEAD, POST")
			s.refuse(w, http.StatusMethodNotAllowed, "The server knows GET, HEAD and POST only.")
		case foreign(r) || r.Method == http.MethodPost && !isBearer && !own(r):
			s.refuse(w, http.StatusForbidden, "The request comes from a page of another server.")
		case r.URL.Path == "/favicon.ico":
			w.WriteHeader(http.StatusNoContent)
		case r.URL.Path == enterPath && r.Method == http.MethodPost:
			s.enter(w, r, r.PostFormValue(tokenKey), "/")
		case r.URL.Query().Has(tokenKey):
			s.enter(w, r, r.URL.Query().Get(tokenKey), cleaned(r.URL))
		case s.isToken(bearer) || s.hasCookie(r):
			h.Del("Connection")
			authenticated(r)
			next.ServeHTTP(w, r)
		default:
			s.ask(w)
		}
	})
}

type connKey struct{} // of a request's connection, in its context

func withConn(ctx context.Context, c net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, c)
}

// authenticated gives a request's connection the place of a reader with the token.
func authenticated(r *http.Request) {
	if c, ok := r.Context().Value(connKey{}).(net.Conn); ok {
		admission.Authenticated(c)
	}
}

// foreign reports whether a page of another origin caused a request. Such a page may link to
// this server, and nothing more.
func foreign(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	switch origin := r.Header.Get("Origin"); {
	case origin == "", isOrigin(origin, r):
	case origin == "null" && site == "same-origin": // a page that hides its address
	default:
		return true
	}
	switch site {
	case "", "none", "same-origin":
		return false
	}
	return r.Method != http.MethodGet || r.Header.Get("Sec-Fetch-Mode") != "navigate" ||
		r.Header.Get("Sec-Fetch-Dest") != "document"
}

// own reports whether a browser says that a page of this server caused a request.
func own(r *http.Request) bool {
	return r.Header.Get("Sec-Fetch-Site") == "same-origin" ||
		isOrigin(r.Header.Get("Origin"), r)
}

// isOrigin reports whether an origin is that of the server which a request names.
func isOrigin(origin string, r *http.Request) bool {
	if r.TLS != nil {
		return origin == "https://"+r.Host
	}
	return origin == "http://"+r.Host
}

// isToken compares in constant time.
func (s *Server) isToken(given string) bool {
	want, got := sha256.Sum256([]byte(s.options.Token)), sha256.Sum256([]byte(given))
	return subtle.ConstantTimeCompare(want[:], got[:]) == 1
}

// cookie is the cookie's name. Ports of a host share their cookies, so each server has another.
func (s *Server) cookie() string {
	sum := sha256.Sum256([]byte("cookie " + s.address + s.options.Token))
	return "plimsoll-" + hex.EncodeToString(sum[:6])
}

func (s *Server) hasCookie(r *http.Request) bool {
	c, err := r.Cookie(s.cookie())
	return err == nil && s.isToken(c.Value)
}

// enter moves a right token into a cookie and sends the browser to an address without it.
func (s *Server) enter(w http.ResponseWriter, r *http.Request, token, to string) {
	if !s.isToken(token) {
		s.ask(w)
		return
	}
	http.SetCookie(w, &http.Cookie{Name: s.cookie(), Value: s.options.Token, Path: "/",
		MaxAge: cookieAge, HttpOnly: true, Secure: s.options.Certificate != nil,
		SameSite: http.SameSiteStrictMode})
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
		http.Redirect(w, r, to, http.StatusSeeOther)
	default:
		// A browser that follows a link from elsewhere, such as a file, sends no strict cookie
		// with the redirected request, but it does from a page of this server.
		s.write(w, http.StatusOK, "forward", to)
	}
}

// cleaned returns the address without the token, on this server.
func cleaned(u *url.URL) string {
	q := u.Query()
	q.Del(tokenKey)
	to := url.URL{Path: "/" + strings.TrimLeft(u.Path, `/\`), RawQuery: q.Encode()}
	return to.String()
}

// ask answers a request without the token.
func (s *Server) ask(w http.ResponseWriter) {
	w.Header().Set("WWW-Authenticate", "Bearer")
	s.write(w, http.StatusUnauthorized, "ask", s.given)
}
