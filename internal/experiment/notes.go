package experiment

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/plimsoll-bench/plimsoll/result"
)

// NotesFile is the file beside a run with readers' notes about it.
const NotesFile = "notes.json"

// The bounds of notes.
const (
	mostTags   = 20
	longestTag = 40   // characters
	longest    = 8000 // characters of a note
)

// Notes holds readers' notes about an experiment. No figure depends on them.
type Notes struct {
	Tags []string `json:"tags"`
	Note string   `json:"note"`
}

// ReadNotes reads the notes in an experiment's folder; unreadable notes count as none.
func ReadNotes(dir string) Notes {
	n, err := readNotes(dir)
	if err != nil {
		return Notes{}
	}
	return n
}

// readNotes is ReadNotes with an error where notes are there that cannot be read.
func readNotes(dir string) (n Notes, err error) {
	info, err := os.Lstat(filepath.Join(dir, NotesFile))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return n, nil
	case err == nil && !info.Mode().IsRegular():
		err = errors.New("it is no file")
	case err == nil:
		if err = result.ReadDocument(dir, NotesFile, "notes", &n); err == nil {
			err = n.check()
		}
	}
	return n, err
}

// NewNotes parses a reader's input. Tags are separated by commas.
func NewNotes(tags, note string) (n Notes, err error) {
	n.Tags = []string{}
	for tag := range strings.SplitSeq(tags, ",") {
		tag = strings.Join(strings.Fields(tag), " ")
		if tag != "" && !slices.Contains(n.Tags, tag) {
			n.Tags = append(n.Tags, tag)
		}
	}
	n.Note = strings.TrimSpace(strings.ReplaceAll(note, "\r\n", "\n"))
	return n, n.check()
}

func (n *Notes) check() error {
	if len(n.Tags) > mostTags {
		return fmt.Errorf("there are %d tags: keep %d at most", len(n.Tags), mostTags)
	}
	for _, tag := range n.Tags {
		if utf8.RuneCountInString(tag) > longestTag {
			return fmt.Errorf("the tag %q is too long: keep %d characters at most", tag, longestTag)
		}
	}
	if utf8.RuneCountInString(n.Note) > longest {
		return fmt.Errorf("the note is too long: keep %d characters at most", longest)
	}
	unprintable := func(r rune) bool {
		return r == utf8.RuneError || unicode.IsControl(r) && r != '\n' && r != '\t'
	}
	if strings.ContainsFunc(strings.Join(append([]string{n.Note}, n.Tags...), ""), unprintable) {
		return errors.New("a tag or the note holds control characters: write text only")
	}
	return nil
}

// Version is another text for other notes.
func (n *Notes) Version() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", n.Tags, n.Note))
	return hex.EncodeToString(sum[:8])
}

// Save replaces the notes in an experiment's folder, unless those there cannot be read.
func (n *Notes) Save(dir string) error {
	if _, err := readNotes(dir); err != nil {
		return fmt.Errorf("%s has notes that cannot be read, and nothing is saved over them: "+
			"mend, rename or delete the file", NotesFile)
	}
	return result.ReplaceDocument(filepath.Join(dir, NotesFile), n)
}
