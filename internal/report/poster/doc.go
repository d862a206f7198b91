// Package poster has what the pictures to share have in common, whichever experiment they are of:
// the gravest warning, the messages that were lost or not accounted for, the command, the source.
//
// It promises that no picture hides a loss.
package poster
