// Package part makes the parts that documents of all experiments are made of: titles, paragraphs,
// tables, warnings before the figures, facts, how to repeat the experiment and how its figures
// could mislead.
//
// It fills in internal/document and has no figures of its own.
package part
