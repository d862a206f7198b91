// Package document holds the documents that people read, as data: headings, sentences, warnings,
// verdicts, cards, tables and charts. It has the renderers that print them.
//
// A Document is made from saved experiments by pure functions elsewhere (internal/report).
// The renderers HTML, Terminal, Markdown and JSON know nothing of what they print, and a page never
// refers to anything outside itself. A chart is data too, and one engine draws it, as SVG.
//
// Every text in a document may come from outside, such as the name of a topic in a saved run.
// Renderers escape it, and strip control characters; no field holds markup.
//
// # Audiences
//
// A terminal shows the blocks for everybody; a page and a Markdown document also show those for
// them. A block with For set is for that audience alone.
package document
