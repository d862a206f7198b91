package serve

import (
	"fmt"
	"net/http"
	"time"
)

const (
	beat       = 15 * time.Second // between two signs of life
	writeLimit = 5 * time.Second  // after which a reader that does not read is dropped
	againMs    = 2000             // until a browser connects again
)

// events tells one reader when the page of a place has another version: an event "changed" with
// the version, "beat" when nothing changed for a while, and "over" with the last version. The
// reader that takes the place of the request looks at the files; all readers of a place share
// the looks.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	place := r.URL.Query().Get("of")
	if _, err := s.find(place); err != nil {
		s.fail(w, err)
		return
	}
	select {
	case s.readers <- struct{}{}:
		defer func() { <-s.readers }()
	default:
		s.refuse(w, http.StatusServiceUnavailable,
			fmt.Sprintf("%d pages wait for changes already.", maxReaders))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)
	send := func(format string, args ...any) bool {
		if out.SetWriteDeadline(time.Now().Add(writeLimit)) != nil {
			return false
		}
		_, err := fmt.Fprintf(w, format, args...)
		return err == nil && out.Flush() == nil
	}
	told, spoke := "", time.Now()
	looks := time.NewTicker(lookPause)
	defer looks.Stop()
	// The stream has no end of its own: only its writes have deadlines.
	if out.SetReadDeadline(time.Time{}) != nil || !send("retry: %d\n\n", againMs) {
		return
	}
	for {
		dirs, err := s.find(place)
		if err != nil {
			return // it was deleted
		}
		changes, running := s.changes(), s.running(dirs)
		version := s.pages.version(place, dirs, !running)
		switch {
		case !running:
			if send("event: over\ndata: %s\n\n", version) {
				s.wait(r, nil, time.After(writeLimit)) // the browser leaves when it has the page
			}
			return
		case version != told:
			if !send("event: changed\ndata: %s\n\n", version) {
				return
			}
			told, spoke = version, time.Now()
		case time.Since(spoke) >= beat:
			if !send("event: beat\ndata:\n\n") {
				return
			}
			spoke = time.Now()
		}
		if !s.wait(r, changes, looks.C) {
			return
		}
	}
}

// wait returns whether it is time for another look; false: the reader or the server has gone.
func (s *Server) wait(r *http.Request, changes <-chan struct{}, looks <-chan time.Time) bool {
	select {
	case <-changes:
	case <-looks:
	case <-r.Context().Done():
		return false
	case <-s.done:
		return false
	}
	return true
}
