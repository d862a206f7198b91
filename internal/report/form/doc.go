// Package form writes a report in each of its forms: a document for people as a table, a page or
// Markdown, formats for machines, and a picture and a text to share.
//
// A Report is made by the room of its kind of experiment. The package knows no experiment.
package form
