/** Phrases that a reader stumbles over, each with plain words for it. */
export const oddPhrases: readonly (readonly [phrase: RegExp, plain: string])[] = [
  [
    /\bst(and|ands|anding|ood) (in the way|in|for|of|beside|above|below|as|at|there|here|on|so|behind)\b/i,
    "is, exists, blocks",
  ],
  [/\b(is|are|was|were) told\b/i, "gets, learns, is notified"],
  [/\btells? of\b/i, "shows, reports"],
  [/\b(called|said|says?|meant|wished) otherwise\b/i, "renamed, changed, differs"],
  [/\botherwise by then\b/i, "has changed since"],
  [/\bto and fro\b/i, "back and forth"],
  [/\b(a|another|the|no|one|every) (run|read|job|daemon|writer|backup) is on\b/i, "in progress"],
  [/\blikewise\b/i, "also"],
  [/\bnone that\b/i, "not a, no"],
  [/\b(one|someone|people|those) who (is|are)\b/i, "name the person"],
  [/\btak(e|es|en|ing) away\b/i, "remove"],
  [/\b(not|no longer|still) meant\b/i, "wanted, unwanted"],
  [/\bgoes with (it|them|that)\b/i, "is removed too"],
  [/\bwhichever\b/i, "any"],
  [
    /\bwhat (it|he|she|they|a|the|was|is|has|had|leads?|stands?|came|goes|begins?|takes?|one|others?|nobody|somebody)\b/i,
    "a noun: the records, the change, the rows",
  ],
  [/\b(that|which) (was|were|is|are) (said|meant|told|shown|seen|found|heard)\b/i, "a plain verb"],
  [/\bis (there )?none\b/i, "there is no"],
  [/\b(shall|whence|thereof|therein|thereby|whereof|hitherto|henceforth|lest|albeit|nought|twain)\b/i, "a modern word"],
  [/\b(of it|of them|of those) (is|are|was|were|goes|stands?|has|waits?)\b/i, "name the thing"],
  [/\bin the place of\b/i, "instead of"],
  [/\bby hand\b/i, "manually, or the command"],
  [/\black(s|ing)? (it|them|one|that|rows|what)\b/i, "does not have, missing"],
  [/\bcomes? to (its|an|the) end\b/i, "ends"],
  [/\bhas come to\b/i, "did"],
  [/\bas (one|it|they|that) (does|do|did|is|was|has)\b/i, "say how"],
  [/\b(to be|is|are) (settled|judged|believed|earned|asked|looked) (at|of|for|by|once)\b/i, "the active voice"],
];

/** A form of "to be" and a participle. */
export const passive =
  /\b(is|are|was|were|be|been|being)\s+(\w+ly\s+|not\s+|never\s+|also\s+|then\s+)?(\w+ed|made|sent|kept|held|told|said|shown|seen|taken|given|done|found|read|written|known|meant|begun|left|lost|put|set|built|bought|brought|chosen|drawn|sold|paid|run|cut|split)\b/gi;
