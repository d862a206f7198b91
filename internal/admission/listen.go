package admission

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"
)

// Host returns the host of an address to listen on.
func Host(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", fmt.Errorf("%q is not an address to listen on: write it like 127.0.0.1:8080",
			address)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return "", fmt.Errorf("%q is not an address to listen on: its port must be from 0 to "+
			"65535, and 0 is a free one", address)
	}
	return host, nil
}

// Listen listens on an address of this machine.
func Listen(address string) (net.Listener, error) {
	if _, err := Host(address); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	unknown := (*net.DNSError)(nil)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		err = fmt.Errorf("%s is in use: take another port, or port 0 for a free one", address)
	case errors.Is(err, syscall.EACCES):
		err = fmt.Errorf("this user may not listen on %s: take a port above 1023", address)
	case errors.Is(err, syscall.EADDRNOTAVAIL), errors.As(err, &unknown):
		err = fmt.Errorf("%s is not an address of this machine: take one of its own, such as "+
			"127.0.0.1:0", address)
	case err != nil:
		err = fmt.Errorf("listen on %s: %w", address, err)
	}
	return l, err
}
