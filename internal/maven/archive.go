package maven

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// Archive is a distribution to fetch: one artifact that packs a folder.
type Archive struct {
	Name        string // of the folder, such as broker-4.0.6
	Coordinates string // group:artifact:version:tar.gz:classifier, pinned
}

const (
	contentsFile = "contents.txt"
	// maxUnpacked bounds the unpacked size of an archive, in bytes. The largest known
	// distribution takes a tenth of it.
	maxUnpacked = 4 << 30
)

// Fetch returns the folder with the archive's files. Their paths lack the archive's only
// top-level folder. Like Artifacts.Fetch, it calls mvn only when the folder is missing or
// incomplete.
func (a Archive) Fetch(
	ctx context.Context, progress func(sentence string),
) (dir string, err error) {
	return wanted{
		name: a.Name, check: a.check, folder: a.folder, whole: unpackedWhole, fill: a.fetch,
		sentence: "fetching " + a.Name + " with mvn and unpacking it",
	}.fetch(ctx, progress)
}

// Fetched reports whether Fetch would find the archive's files on this machine.
func (a Archive) Fetched() bool {
	dir, err := a.folder()
	return err == nil && unpackedWhole(dir)
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

// fetch has mvn bring the archive to work, and unpacks it into dir.
func (a Archive) fetch(ctx context.Context, mvn, work, dir string) error {
	err := ask(ctx, mvn, work, []string{
		"-B", "-q", "-Dstyle.color=never", dependencyPlugin + ":copy",
		"-Dartifact=" + a.Coordinates, "-DoutputDirectory=" + work, "-Dmdep.useBaseVersion=true",
	})
	if err == nil {
		err = unpackInto(ctx, work, dir)
	}
	return err
}

// unpackInto unpacks the archive that mvn brought to work, and writes the list of its files
// last.
func unpackInto(ctx context.Context, work, dir string) error {
	found, err := filepath.Glob(filepath.Join(work, "*.tar.gz"))
	if err != nil {
		return err
	}
	if len(found) != 1 {
		return fmt.Errorf("mvn succeeded and brought %d archives instead of one: "+
			"run it by hand to see why: "+
			"mvn dependency:get -Dartifact=group:artifact:version:tar.gz:classifier", len(found))
	}
	f, err := os.Open(found[0])
	if err != nil {
		return err
	}
	defer f.Close()
	contents, err := unpack(ctx, f, dir)
	if err != nil {
		return fmt.Errorf("unpacking %s: %w", filepath.Base(found[0]), err)
	}
	return os.WriteFile(filepath.Join(dir, contentsFile), []byte(contents), 0o644)
}

// unpack writes every file of the archive below dir and returns the list of the files. It
// refuses paths that lead out of dir, and os.Root excludes them once more.
func unpack(ctx context.Context, archive io.Reader, dir string) (contents string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	unzipped, err := gzip.NewReader(archive)
	if err != nil {
		return "", err
	}
	defer unzipped.Close()
	var list strings.Builder
	left := int64(maxUnpacked)
	entries := tar.NewReader(unzipped)
	for ctx.Err() == nil {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			if list.Len() == 0 {
				return "", errors.New("it is empty")
			}
			return list.String(), nil
		}
		if err != nil {
			return "", err
		}
		if left -= max(entry.Size, 0); left < 0 {
			return "", fmt.Errorf("it holds more than %d bytes", int64(maxUnpacked))
		}
		if err := unpackOne(root, entries, entry, &list); err != nil {
			return "", err
		}
	}
	return "", ctx.Err()
}

// unpackOne writes one entry, without the first folder of its path.
func unpackOne(root *os.Root, content io.Reader, entry *tar.Header, list *strings.Builder) error {
	clean := path.Clean(entry.Name)
	if !filepath.IsLocal(clean) {
		return fmt.Errorf("%s lies outside of the archive", entry.Name)
	}
	_, name, below := strings.Cut(clean, "/")
	if !below {
		return nil // the top-level folder
	}
	switch entry.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeReg:
	default:
		return fmt.Errorf("%s is neither a file nor a folder", entry.Name)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	mode := 0o644 | fs.FileMode(entry.Mode)&0o111
	f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	fmt.Fprintf(list, "%d %s\n", entry.Size, name)
	return nil
}

// unpackedWhole reports whether the folder holds every file of its list.
func unpackedWhole(dir string) bool {
	list, err := os.ReadFile(filepath.Join(dir, contentsFile))
	if err != nil {
		return false
	}
	for line := range strings.Lines(string(list)) {
		size, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		want, err := strconv.ParseInt(size, 10, 64)
		if !ok || err != nil {
			return false
		}
		info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || info.Size() != want {
			return false
		}
	}
	return len(list) > 0
}
