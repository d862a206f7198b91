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
// the version, "beat" when nothing changed for a while, and "over" with the last version. A reader
// with a hidden page learns only of the end, and no file is read for it.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	place, hidden := r.URL.Query().Get("of"), r.URL.Query().Has("hidden")
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
	send := func(event, version string) bool {
		if out.SetWriteDeadline(time.Now().Add(writeLimit)) != nil {
			return false
		}
		_, err := fmt.Fprintf(w, "retry: %d\nevent: %s\ndata: %s\n\n", againMs, event, version)
		return err == nil && out.Flush() == nil
	}
	pause := lookPause
	if hidden {
		pause = beat
	}
	looks := time.NewTicker(pause)
	defer looks.Stop()
	told, spoke := "", time.Time{}
	// The stream has no end of its own: only its writes have deadlines.
	ok := out.SetReadDeadline(time.Time{}) == nil
	for ; ok; ok = ok && s.wait(r, s.ended(), looks.C) {
		dirs, err := s.find(place)
		if err != nil {
			return // it was deleted
		}
		running := s.running(dirs)
		if !running {
			if send("over", s.pages.version(place, dirs, true)) {
				s.wait(r, nil, time.After(writeLimit)) // the browser leaves when it has the page
			}
			return
		}
		version := told
		if !hidden {
			version = s.pages.version(place, dirs, false)
		}
		event := "beat"
		if version != told {
			event = "changed"
		}
		if event == "changed" || time.Since(spoke) >= beat {
			ok, told, spoke = send(event, version), version, time.Now()
		}
	}
}

// wait returns true when it is time to look again, and false when the reader or the server has
// gone.
func (s *Server) wait(r *http.Request, end <-chan struct{}, looks <-chan time.Time) bool {
	select {
	case <-end:
	case <-looks:
	case <-r.Context().Done():
		return false
	case <-s.done:
		return false
	}
	return true
}
