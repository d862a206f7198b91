package maven

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Archive is a distribution to fetch: one artifact that packs a folder.
type Archive struct {
	Name        string // of the folder, such as broker-4.0.6
	Coordinates string // group:artifact:version:tar.gz:classifier, pinned
	// Sums lists the SHA-256 of the archive and of the list of its files, which has the SHA-256
	// of each: the text of a file that Pins has written.
	Sums string
}

// maxUnpacked bounds the unpacked size of an archive, in bytes. The largest known distribution
// takes a tenth of it.
const maxUnpacked = 4 << 30

// Fetch returns the folder with the archive's files. Their paths lack the archive's only
// top-level folder. Like Artifacts.Fetch, it calls mvn only when the folder is missing or
// incomplete.
func (a Archive) Fetch(
	ctx context.Context, progress func(sentence string),
) (dir string, err error) {
	return a.wanted().fetch(ctx, progress)
}

// Pins fetches the archive anew and returns its lines for Sums.
func (a Archive) Pins(ctx context.Context) (lines string, err error) {
	a.Sums = ""
	return a.wanted().pins(ctx)
}

// Pinned returns the lines for the archive in Sums.
func (a Archive) Pinned() (lines string) { return pinnedSums(a.Sums, a.Name).lines(a.Name) }

func (a Archive) wanted() wanted {
	pinned := pinnedSums(a.Sums, a.Name)
	return wanted{
		name: a.Name, pinned: pinned, check: a.check, folder: a.folder, fill: a.fetch,
		sentence: "fetching " + a.Name + " with mvn and unpacking it",
		trusted: func(_ []listed, list []byte) error {
			return sums{listFile: pinned[listFile]}.compare(sums{listFile: textSum(list)})
		},
	}
}

// Fetched reports whether Fetch would find the archive's files on this machine.
func (a Archive) Fetched() bool {
	dir, err := a.folder()
	return err == nil && whole(dir)
}

func (a Archive) folder() (string, error) {
	return Artifacts{Name: a.Name, Coordinates: []string{a.Coordinates}}.folder()
}

// check refuses an archive that only a programming error can produce.
func (a Archive) check() error {
	if a.Name == "" || strings.ContainsAny(a.Name, `/\`) {
		return fmt.Errorf("archive %q: give a folder's name", a.Name)
	}
	parts := strings.Split(a.Coordinates, ":")
	if len(parts) != 5 || parts[3] != "tar.gz" ||
		strings.ContainsAny(a.Coordinates, "<>&$ \n[](),") {
		return fmt.Errorf("coordinates %q: write group:artifact:version:tar.gz:classifier, "+
			"with one version and no range", a.Coordinates)
	}
	return nil
}

// fetch has mvn bring the archive to work, and unpacks it into dir if it is the pinned one.
func (a Archive) fetch(ctx context.Context, mvn, work, dir string) (sums, error) {
	err := ask(ctx, mvn, work, []string{
		dependencyPlugin + ":copy", "-Dartifact=" + a.Coordinates, "-DoutputDirectory=" + work,
		"-Dmdep.useBaseVersion=true",
	})
	if err != nil {
		return nil, err
	}
	found, err := filepath.Glob(filepath.Join(work, "*.tar.gz"))
	if err != nil {
		return nil, err
	}
	if len(found) != 1 {
		return nil, fmt.Errorf("mvn succeeded and brought %d archives instead of one: "+
			"run it by hand to see why: "+
			"mvn dependency:get -Dartifact=group:artifact:version:tar.gz:classifier", len(found))
	}
	name := filepath.Base(found[0])
	sum, err := sumOf(found[0])
	if err != nil {
		return nil, err
	}
	brought, pinned := sums{name: sum}, pinnedSums(a.Sums, a.Name)
	if pinned != nil && pinned[name] != sum {
		return brought, nil // refused before it is unpacked
	}
	if brought[listFile], err = unpackInto(ctx, found[0], dir); err != nil {
		return nil, fmt.Errorf("unpack %s: %w", name, err)
	}
	return brought, nil
}

// unpackInto unpacks the archive, writes the list of its files last, and returns the list's sum.
func unpackInto(ctx context.Context, archive, dir string) (sum string, err error) {
	f, err := os.Open(archive)
	if err != nil {
		return "", err
	}
	defer f.Close()
	files, err := unpack(ctx, f, dir)
	if err != nil {
		return "", err
	}
	return textSum(listOf(files)), writeList(dir, files)
}

// unpack writes every file of the archive below dir and returns the list of the files. It
// refuses paths that lead out of dir, and os.Root excludes them once more.
func unpack(ctx context.Context, archive io.Reader, dir string) (files []listed, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	unzipped, err := gzip.NewReader(archive)
	if err != nil {
		return nil, err
	}
	defer unzipped.Close()
	left := int64(maxUnpacked)
	entries := tar.NewReader(unzipped)
	for ctx.Err() == nil {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			if len(files) == 0 {
				return nil, errors.New("it is empty")
			}
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if left -= max(entry.Size, 0); left < 0 {
			return nil, fmt.Errorf("it holds more than %d bytes", int64(maxUnpacked))
		}
		file, err := unpackOne(root, entries, entry)
		if err != nil {
			return nil, err
		}
		if file.path != "" {
			files = append(files, file)
		}
	}
	return nil, ctx.Err()
}

// unpackOne writes one entry, without the first folder of its path. A folder has no path.
func unpackOne(root *os.Root, content io.Reader, entry *tar.Header) (file listed, err error) {
	clean := path.Clean(entry.Name)
	if !filepath.IsLocal(clean) {
		return file, fmt.Errorf("%s lies outside of the archive", entry.Name)
	}
	_, name, below := strings.Cut(clean, "/")
	if !below {
		return file, nil // the top-level folder
	}
	switch entry.Typeflag {
	case tar.TypeDir:
		return file, root.MkdirAll(name, 0o755)
	case tar.TypeReg:
	default:
		return file, fmt.Errorf("%s is neither a file nor a folder", entry.Name)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return file, err
	}
	mode := 0o644 | fs.FileMode(entry.Mode)&0o111
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return file, err
	}
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(f, sum), content)
	return listed{hex.EncodeToString(sum.Sum(nil)), entry.Size, name}, errors.Join(err, f.Close())
}
