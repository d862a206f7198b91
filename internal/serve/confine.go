package serve

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// within returns the directory at a path below root, which is relative and has slashes. It
// refuses a path that leads out of root or into a hidden folder, also by a link, and a directory
// that has a link out of root.
func within(root, rel string) (string, error) {
	path := filepath.FromSlash(rel)
	if !filepath.IsLocal(path) || hiddenPart(path) {
		return "", outside(rel)
	}
	root, err := filepath.EvalSymlinks(root)
	if err != nil {
		return "", err
	}
	dir, err := filepath.EvalSymlinks(filepath.Join(root, path))
	if err != nil {
		return "", fmt.Errorf("%q is not there: %w", rel, fs.ErrNotExist)
	}
	inner, err := filepath.Rel(root, dir)
	if err != nil || !filepath.IsLocal(inner) || hiddenPart(inner) {
		return "", outside(rel)
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return "", fmt.Errorf("%q is not a folder: %w", rel, fs.ErrNotExist)
	}
	return dir, linksWithin(root, dir)
}

func outside(rel string) error {
	return fmt.Errorf("%q leads out of the folder: %w", rel, fs.ErrPermission)
}

// hiddenPart reports whether a part of a path begins with a dot, but for the path itself.
func hiddenPart(path string) bool {
	return path != "." && (strings.HasPrefix(path, ".") ||
		strings.Contains(path, string(filepath.Separator)+"."))
}

// linksWithin refuses a directory in which a file that readers open is a link out of root.
func linksWithin(root, dir string) error {
	return filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // it was removed, or readers cannot read it either
		case d.IsDir() && path != dir && skipped(d.Name(), depth(dir, path)):
			return fs.SkipDir
		case d.Type()&fs.ModeSymlink == 0:
			return nil
		}
		to, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil //nolint:nilerr // it leads nowhere
		}
		if inner, err := filepath.Rel(root, to); err != nil || !filepath.IsLocal(inner) {
			return fmt.Errorf("the link %s leads out of the folder: %w", d.Name(), fs.ErrPermission)
		}
		return nil
	})
}
