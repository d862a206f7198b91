package serve

import (
	"errors"
	"net/http"
	"strings"

	"github.com/plimsoll-bench/plimsoll/internal/experiment"
)

// notesForm is the page with the notes of an experiment.
type notesForm struct {
	Links      []link
	Place      string
	Tags, Note string // in the fields
	Version    string // of the saved notes
	Running    bool
	Saved      *saved // nil: the fields show the saved notes
}

// saved are the notes that another reader saved while the fields were filled in.
type saved struct{ Tags, Note string }

// notes answers with the notes of an experiment.
func (f *Folder) notes(w http.ResponseWriter, r *http.Request) {
	place := r.PathValue("place")
	dir, err := f.listed(place)
	if err != nil {
		f.fail(w, err)
		return
	}
	f.write(w, http.StatusOK, "notes", f.form(place, dir, experiment.ReadNotes(dir)))
}

func (f *Folder) form(place, dir string, n experiment.Notes) notesForm {
	return notesForm{Links: f.bar("")[:1], Place: place, Tags: tagsOf(n), Note: n.Note,
		Version: n.Version(), Running: f.running([]string{dir})}
}

func tagsOf(n experiment.Notes) string { return strings.Join(n.Tags, ", ") }

// note saves tags and a note. The request names the version of the notes that it replaces, and
// comes back with both if others are saved, so that no reader replaces notes unseen.
func (f *Folder) note(w http.ResponseWriter, r *http.Request) {
	place := r.PathValue("place")
	f.changing.Lock()
	defer f.changing.Unlock()
	dir, err := f.listed(place)
	if err != nil {
		f.fail(w, err)
		return
	}
	now := experiment.ReadNotes(dir)
	next, err := given(r, now)
	if err != nil {
		f.fail(w, err)
		return
	}
	if r.PostForm.Get("version") != now.Version() && next.Version() != now.Version() {
		page := f.form(place, dir, next)
		page.Version, page.Saved = now.Version(), &saved{tagsOf(now), now.Note}
		f.write(w, http.StatusConflict, "notes", page)
		return
	}
	if err := next.Save(dir); err != nil {
		f.fail(w, err)
		return
	}
	http.Redirect(w, r, "/", http.StatusSeeOther)
}

// given returns the notes of a form. A field that the form lacks stays as it is.
func given(r *http.Request, now experiment.Notes) (experiment.Notes, error) {
	tags, note := r.PostFormValue("tags"), r.PostFormValue("note")
	hasTags, hasNote := r.PostForm.Has("tags"), r.PostForm.Has("note")
	if !hasTags && !hasNote {
		return now, errors.New("the request has neither tags nor a note, and nothing is changed: " +
			"send a field tags or a field note")
	}
	if !r.PostForm.Has("version") {
		return now, errors.New("the request does not say which notes it replaces, and nothing is " +
			"changed: send the field version of the form that showed them")
	}
	if !hasTags {
		tags = tagsOf(now)
	}
	if !hasNote {
		note = now.Note
	}
	return experiment.NewNotes(tags, note)
}
