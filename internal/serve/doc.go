// Package serve shows experiments in a browser: one while it is measured (Follow), and all below
// a folder (OpenFolder).
//
// It reads the directories with the readers of the report; measuring knows nothing of it.
// Options.Page renders a page, the same that plimsoll report writes into a file. A bar and a
// script are added. When server-sent events say that files have changed, the script fetches the
// page and takes over the differences within its main element. So the last page of an experiment
// equals its saved report.
//
// # What it costs
//
// Nothing is read while no browser shows a page; a hidden page learns only of the end. Otherwise
// files are looked at once a second, and a page is rendered again at most once a second and in at
// most a twentieth of the time, for all readers together. Readers, connections, remembered pages
// and the entries of a folder are bounded, every write has a deadline, and a reader that does not
// read is dropped. Connections without the token are bounded as internal/admission says, and are
// closed after an answer, so they keep no reader out.
//
// # Who may see it
//
// The server listens on loopback unless it has TLS and a token that was given to it. Every request
// needs the token: in the address, which moves it into a cookie, or as a bearer token. Requests
// for another host, of another origin, or with another method than GET, HEAD and POST are refused,
// and so are paths and links that lead out of the folder. A POST must come from a page of the
// server's own.
package serve
