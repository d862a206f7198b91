//go:build !linux

package bench

import "errors"

func canDropPageCache() error { return errors.New("this is another system") }

func dropPageCache() error { return canDropPageCache() }
