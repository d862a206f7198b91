package kubernetes

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Pack writes a folder's files as a compressed tar archive. A file that grows meanwhile is
// archived as long as it was when its turn came. The compression's checksum reveals a truncated
// archive; a bare tar would not.
func Pack(w io.Writer, folder string) (err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	compressed, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return fmt.Errorf("pack: %w", err)
	}
	archive := tar.NewWriter(compressed)
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && name != "." {
			err = add(archive, root, name, d.Type())
		}
		if errors.Is(err, fs.ErrNotExist) && name != "." {
			return nil // it was removed meanwhile, as temporary files are
		}
		return err
	})
	if err == nil {
		err = errors.Join(archive.Close(), compressed.Close())
	}
	if err != nil {
		return fmt.Errorf("pack %s: %w", folder, err)
	}
	return nil
}

// add adds a folder, a file or a link within the folder.
func add(archive *tar.Writer, root *os.Root, name string, kind fs.FileMode) error {
	header := &tar.Header{Name: filepath.ToSlash(name)}
	switch kind {
	case fs.ModeDir:
		header.Typeflag, header.Name, header.Mode = tar.TypeDir, header.Name+"/", 0o755
		return archive.WriteHeader(header)
	case fs.ModeSymlink:
		to, err := root.Readlink(name)
		if err != nil {
			return err
		}
		if !filepath.IsLocal(filepath.Join(filepath.Dir(name), to)) {
			return nil // it leads out of the folder
		}
		header.Typeflag, header.Linkname, header.Mode = tar.TypeSymlink, filepath.ToSlash(to), 0o777
		return archive.WriteHeader(header)
	case 0:
	default:
		return nil // sockets and devices are no results
	}
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	header.Typeflag, header.Mode = tar.TypeReg, 0o644
	header.Size, header.ModTime = info.Size(), info.ModTime()
	if err := archive.WriteHeader(header); err != nil {
		return err
	}
	if _, err := io.CopyN(archive, f, header.Size); err != nil {
		return fmt.Errorf("read %s, which was cut short meanwhile: %w", name, err)
	}
	return nil
}
