// Package serve shows experiments in a browser: one while it is measured (Follow), and all below
// a folder (OpenFolder).
//
// It reads what is in the directories, with the readers that a report has; measuring knows nothing
// of it. A page is what Options.Page renders, the same that plimsoll report writes into a file. A
// bar and a script are added: the script learns from server-sent events that files have changed,
// fetches the page, and takes over what differs within its main element. So the last page of an
// experiment equals its saved report.
//
// # What it costs
//
// Nothing is read while no browser shows a page; a hidden page is told of the end alone. Otherwise
// files are looked at once a second, and a page is rendered again at most once a second and in at
// most a twentieth of the time, for all readers together. Readers, connections, remembered pages
// and the entries of a folder are bounded, every write has a deadline, and a reader that does not
// read is dropped.
//
// # Who may see it
//
// The server listens on loopback unless it has TLS and a token that was given to it. Every
// request needs the token: in the address, from where it moves into a cookie, or as a bearer.
// Requests for another host, of another origin, or with another method than GET, HEAD and POST
// are refused, and so are paths and links that lead out of the folder. A POST must come from a
// page of the server's own.
package serve
