import type { Breaks } from "../break.ts";

/** What an answer of the services means, and how they are called. */
export const answers: Breaks = {
  "HTTP 299 with code 0 is a success": {
    file: "src/http/classification.ts",
    find: "if (status !== 200) return {",
    replace: "if (status > 299) return {",
    test: "http/writes.test.ts",
    title: "a write with an unclear answer is unknown and never sent again > HTTP 299 with code 0",
  },
  "HTTP 200 is a success whatever its code": {
    file: "src/http/classification.ts",
    find: `if (envelope.kind === "success") {`,
    replace: "if (status === 200) {",
    test: "http/writes.test.ts",
    title: "a write that was refused > names code and message, in HTTP 200 and 299 alike",
  },
  "the text 0 is a success": {
    file: "src/contract/answer-json.ts",
    find: "if (code === 0) return",
    replace: "if (Number(code) === 0) return",
    test: "http/writes.test.ts",
    title: "a write with an unclear answer is unknown and never sent again > code as the text 0",
  },
  'the code "500" is a refusal': {
    file: "src/contract/codes.ts",
    find: `"500": {
    effect: "unknown",`,
    replace: `"500": {
    effect: "rejected",`,
    test: "http/writes.test.ts",
    title: "a write with an unclear answer is unknown and never sent again > code 500",
  },
  "an error code is believed under any HTTP status": {
    file: "src/http/classification.ts",
    find: "if (status !== 200 && status !== 299)",
    replace: "if (status === 502)",
    test: "http/writes.test.ts",
    title: "a write with an unclear answer is unknown and never sent again > a documented code with HTTP 500",
  },
  "a code that no contract lists is a refusal": {
    file: "src/contract/codes.ts",
    find: `const unlisted: CodeMeaning = {
  effect: "unknown",`,
    replace: `const unlisted: CodeMeaning = {
  effect: "rejected",`,
    test: "http/writes.test.ts",
    title: "a write with an unclear answer is unknown and never sent again > an unlisted code",
  },
  "a write met by HTTP 429 counts as not sent": {
    file: "src/http/conclusion.ts",
    find: `case "limited":
      return { kind: "unknown", reason`,
    replace: `case "limited":
      return { kind: "not-sent", reason`,
    test: "http/writes.test.ts",
    title: "a write with an unclear answer is unknown and never sent again > too many calls",
  },
  "a write without an answer counts as not sent": {
    file: "src/http/conclusion.ts",
    find: `if (!written) return { kind: "not-sent", reason };`,
    replace: `if (status === undefined) return { kind: "not-sent", reason };`,
    test: "http/writes.test.ts",
    title: "a write with an unclear answer is unknown and never sent again > a connection closed without an answer",
  },
  "the transport forgets that bytes were written": {
    file: "src/http/transport.ts",
    find: "this.#written = true;",
    replace: "",
    test: "http/writes.test.ts",
    title: "a write with an unclear answer is unknown and never sent again > silence",
  },
  "a write that timed out is sent again at once": {
    file: "src/http/client.ts",
    find: "ended.resolve(await attempt(options, options.nonce, body, options.beforeSending));",
    replace: `const first = await attempt(options, options.nonce, body, options.beforeSending);
        ended.resolve(first.kind === "failed" ? await attempt(options, options.nonce, body) : first);`,
    test: "http/writes.test.ts",
    title: "a write with an unclear answer is unknown and never sent again > silence",
  },
  "a write with an odd answer is sent again at once": {
    file: "src/http/client.ts",
    find: "ended.resolve(await attempt(options, options.nonce, body, options.beforeSending));",
    replace: `const first = await attempt(options, options.nonce, body, options.beforeSending);
        ended.resolve(repetition(first) === "never" ? first : await attempt(options, options.nonce, body));`,
    test: "http/writes.test.ts",
    title: "a write with an unclear answer is unknown and never sent again > code 500",
  },
  "a write on its way is given up when the run is stopped": {
    file: "src/http/client.ts",
    find: "signal: endpoint.writes ? undefined : signal,",
    replace: "signal,",
    test: "http/writes.test.ts",
    title: "a write that was not sent > because it was stopped before its turn came; once sent, it runs to its end",
  },
  "a broken connection makes a request leave twice": {
    file: "src/http/transport.ts",
    find: "if (this.#settled || this.#written) {",
    replace: "if (this.#written) {",
    test: "http/transport.test.ts",
    title: "a request that was given up while it waited for a connection never leaves",
  },
  "E5's results are matched by position": {
    file: "src/contract/order-service.ts",
    find: `for (const result of results) {
    const { sequence } = result;`,
    replace: `for (const result of results) {
    const sequence = [...sent.keys()][results.indexOf(result)] ?? result.sequence;`,
    test: "contract/requests.test.ts",
    title: "the results of an order > are matched by sequence, not by position",
  },
  "a sequence that E5 did not answer is ignored": {
    file: "src/contract/order-service.ts",
    find: "if (!matched.has(sequence))",
    replace: "if (matched.size === 0)",
    test: "apply/deliver.test.ts",
    title:
      "an order that meets a fault > e5MissingSequence: an answer that does not match what was sent proves nothing; reading does",
  },
  "a sequence that E5 answered twice is ignored": {
    file: "src/contract/order-service.ts",
    find: "if (matched.has(sequence)) {",
    replace: "if (matched.size > sent.size) {",
    test: "contract/requests.test.ts",
    title: "the results of an order > must hold each sequence once and no other, for the customer that was meant",
  },
  "another customer's result is taken for ours": {
    file: "src/contract/order-service.ts",
    find: "result.customerId !== order.customerId &&",
    replace: "result.customerId === undefined &&",
    test: "contract/requests.test.ts",
    title: "the results of an order > must hold each sequence once and no other, for the customer that was meant",
  },
  "an order without a licence order is taken for placed": {
    file: "src/contract/order-service.ts",
    find: `if (purchase && (result.licenseOrderId === null || result.licenseOrderId === "")) {`,
    replace: "if (purchase && result.licenseOrderId === undefined) {",
    test: "contract/requests.test.ts",
    title: "the results of an order > must hold each sequence once and no other, for the customer that was meant",
  },
  "an empty source licence order goes into a removal": {
    file: "src/contract/order-record.ts",
    within: "deleteFields",
    find: "  srcLicenseOrderId: text,",
    replace: '  srcLicenseOrderId: text.or(z.literal("")),',
    test: "contract/requests.test.ts",
    title: "an order > that takes something away names the order it takes it from, never an empty one",
  },
  "60027 is a refusal of everybody": {
    file: "src/contract/codes.ts",
    find: `effect: "partial",`,
    replace: `effect: "rejected",`,
    test: "http/writes.test.ts",
    title: "a partial success (60027) > keeps who was added and who was not",
  },
  "the failed list of 60027 is ignored": {
    file: "src/operation/staff-match.ts",
    find: "match.refused.push({ key,",
    replace: "match.added.push({ key, globalId: row.userName,",
    test: "apply/settle.test.ts",
    title:
      "staff whose answer was lost (M1) > that were added in part, which the answer says (60027), are linked; the others are refused by name",
  },
  "an account name with the enterprise code is not recognised": {
    file: "src/operation/staff-match.ts",
    find: "? sent.filter((name) => first.startsWith(name)).map((name) => first.slice(name.length))",
    replace: `? [""]`,
    test: "apply/deliver.test.ts",
    title:
      "an operation that works > M1 adds staff with generated passwords that are sealed, and learns the enterprise code",
  },
  "a person whom M1 names twice is added": {
    file: "src/operation/staff-match.ts",
    find: "if (key === undefined || seen.has(name)) return undefined;",
    replace: "if (key === undefined) return undefined;",
    test: "apply/effects.test.ts",
    title: "an answer of M1 > proves nothing where somebody is there twice",
  },
  "a person whom M1 leaves out is taken for added": {
    file: "src/operation/staff-match.ts",
    find: "return seen.size === bySentName.size ? match : undefined;",
    replace: "return match;",
    test: "apply/effects.test.ts",
    title: "an answer of M1 > proves nothing where somebody is missing",
  },
  "the enterprise code is guessed where two would fit": {
    file: "src/operation/staff-match.ts",
    find: "return fitting.length === 1 ? fitting[0] : undefined;",
    replace: "return fitting[0];",
    test: "apply/effects.test.ts",
    title: "the suffix of account names > is not guessed where two would fit",
  },
  "the words of a refusal repeat what was sent": {
    file: "src/apply/scrubbed.ts",
    find: "const known = [...values, ...textsOf(wire)];",
    replace: "const known: string[] = [];",
    test: "apply/refused.test.ts",
    title: "what M1 says of somebody it refuses is kept without anything that was sent of that person",
  },
  "60028 on M9 is a refusal": {
    file: "src/contract/codes.ts",
    find: `"60028": {
    effect: "settle",`,
    replace: `"60028": {
    effect: "rejected",`,
    test: "http/writes.test.ts",
    title:
      "a write that was refused > may mean that it is done already (60002 on M4), or has to be settled by reading (60028 on M9)",
  },
  "only the first page of M5 is read": {
    file: "src/platform/member-center/staff-list.ts",
    find: "if (rows.length === total) return",
    replace: "if (rows.length > 0) return",
    test: "platform/member-center.test.ts",
    title: "the staff list (M5) > is read page by page until it is whole",
  },
  "a staff list that ends early is believed": {
    file: "src/platform/member-center/staff-list.ts",
    find: "if (answer.list.length === 0) throw incomplete(`${rows.length} rows came of a total of ${total}`);",
    replace: "if (answer.list.length === 0) return { rows, total, pages: number + 1 };",
    test: "platform/member-center.test.ts",
    title: "the staff list (M5) > with no rows in the middle is incomplete, never short",
  },
  "a total that changes while M5 is read is believed": {
    file: "src/platform/member-center/staff-list.ts",
    find: "if (answer.total !== total)",
    replace: "if (answer.total < 0)",
    test: "platform/member-center.test.ts",
    title: "the staff list (M5) > with a total that changes while it is read is incomplete, never short",
  },
  "60017 means that there is nothing": {
    file: "src/http/client.ts",
    find: "return { error: readFailureOf(endpoint, ended), again: repetition(ended) };",
    replace: `if (ended.kind === "answered" && ended.result.kind === "code" && ended.result.code === "60017") return { value: [] };
          return { error: readFailureOf(endpoint, ended), again: repetition(ended) };`,
    test: "http/reads.test.ts",
    title: "a read is tried again > not when it was refused for good: 60017 means cannot see, never has none",
  },
  "contents without any list (M7) mean that there is nothing": {
    file: "src/contract/asset-contents.ts",
    find: `data !== null && ("productInstanceList" in data || "children" in data)`,
    replace: "data !== null",
    test: "platform/member-center.test.ts",
    title: "reads that cannot see > fail for 60017, for null instead of a list, and for contents with neither list",
  },
  "E9 gives fewer numbers than were asked for": {
    file: "src/platform/order-service/order-service.ts",
    find: "check: (digits) => assetDigitsProblem(digits, size, options.assetFirstDigits),",
    replace: "",
    test: "platform/order-service.test.ts",
    title: "answers of the order service > E9: fewer, doubled, short or foreign numbers are unknown, not used",
  },
  "an id beyond 2^53 passes through a number": {
    file: "src/contract/answer-json.ts",
    find: "if (!longInteger.test(text)) return",
    replace: "if (text !== undefined) return",
    test: "contract/answers.test.ts",
    title: "the text of an answer > keeps every digit of an integer beyond 2^53, and leaves smaller ones numbers",
  },
  "the circuit never opens": {
    file: "src/http/circuit.ts",
    find: "failuresInRow >= options.failures",
    replace: "failuresInRow < 0",
    test: "http/circuit.test.ts",
    title: "a circuit opens after so many failures in a row, and not one before",
  },
  "a circuit that was open never closes": {
    file: "src/http/circuit.ts",
    find: `return { kind: "probe" };`,
    replace: `return { kind: "pass" };`,
    test: "http/circuit.test.ts",
    title:
      "an open circuit lets one call try the service, opens for longer when that fails, and closes when it succeeds",
  },
  "a call from before closes an open circuit": {
    file: "src/http/circuit.ts",
    find: `if (permit.kind === "probe") close();`,
    replace: "close();",
    test: "http/circuit.test.ts",
    title: "a call that was sent before the circuit opened does not close it",
  },
  "a circuit is open by the wall clock": {
    file: "src/http/circuit.ts",
    find: "const { clock, openMs } = options;",
    replace: "const openMs = options.openMs;\n  const clock = { monotonic: () => options.clock.now() };",
    test: "http/clock.test.ts",
    title:
      "a wall clock that is set a day ahead > neither ends the time for which a circuit is open, nor makes it longer",
  },
  "calls are spaced by the wall clock": {
    file: "src/http/pace.ts",
    find: "const { clock, turnTimeoutMs } = options;",
    replace:
      "const turnTimeoutMs = options.turnTimeoutMs;\n  const clock = { ...options.clock, monotonic: () => options.clock.now() };",
    test: "http/clock.test.ts",
    title: "a wall clock that is set a day ahead > leaves the pace as it is, and the time that a service asked for",
  },
  "a token lives by the wall clock": {
    file: "src/http/tokens.ts",
    find: "createTokenProvider(reader: TokenReader, clock: Clock, scope?: string): TokenProvider {",
    replace: `createTokenProvider(reader: TokenReader, wall: Clock, scope?: string): TokenProvider {
  const clock = { monotonic: () => wall.now() };`,
    test: "http/clock.test.ts",
    title: "a wall clock that is set a day ahead > leaves a token its life",
  },
  "all callers wait equally long before they try again": {
    file: "src/http/retry.ts",
    find: "random.fraction() *",
    replace: "",
    test: "http/retry.test.ts",
    title: "the wait before a repetition > is anything from nothing to the whole step",
  },
  "the wait before a repetition does not grow": {
    file: "src/http/retry.ts",
    find: "options.baseMs * 2 ** attempt",
    replace: "options.baseMs",
    test: "http/retry.test.ts",
    title: "the wait before a repetition > grows to the double each time, up to the cap and never beyond",
  },
  "the wait before a repetition has no end": {
    file: "src/http/retry.ts",
    find: "Math.min(options.capMs, options.baseMs * 2 ** attempt)",
    replace: "options.baseMs * 2 ** attempt",
    test: "http/retry.test.ts",
    title: "the wait before a repetition > grows to the double each time, up to the cap and never beyond",
  },
  "one call that succeeds fills the store of repetitions": {
    file: "src/http/retry.ts",
    find: "tenths += 1;",
    replace: "tenths = size * 10;",
    test: "http/retry.test.ts",
    title: "the repetitions in store > come back by one for ten calls that succeed, and never beyond the size",
  },
  "repetitions are not rationed": {
    file: "src/http/client.ts",
    find: "&& budget.take(),",
    replace: "&& budget.left() >= 0,",
    test: "http/reads.test.ts",
    title: "a service in trouble > gets at most 1.2 requests per first attempt while it is down",
  },
  "a sealing key loses what stands at its end": {
    file: "src/http/secrets.ts",
    find: `.replace(/\\r?\\n$/u, "");`,
    replace: ".trim();",
    test: "http/secrets.test.ts",
    title: "one rule for every secret > a file is text as it stands there, without one line end at its end",
  },
  "a credential is sent with the line ends of its file": {
    file: "src/http/secrets.ts",
    find: `return secret.replace(/^\\uFEFF/u, "").replace(/[\\r\\n]+$/u, "");`,
    replace: "return secret;",
    test: "http/secrets.test.ts",
    title: "one rule for every secret > services and sources send the same, whatever an editor put around it",
  },
  "a service that asks for a year is believed": {
    file: "src/http/retry.ts",
    find: "return Math.min(longestRetryAfterMs, Number(text) * 1000);",
    replace: "return Number(text) * 1000;",
    test: "http/retry.test.ts",
    title: "Retry-After > is seconds or an HTTP date, never more than a day, and nothing where it is neither",
  },
  "Retry-After is ignored": {
    file: "src/http/client.ts",
    find: "if (wait !== undefined) pace.pause(wait);",
    replace: "",
    test: "http/reads.test.ts",
    title:
      "a service in trouble > is called less when it says 500 or 429, waits for Retry-After, and is called more again when it recovers",
  },
  "each caller renews a refused token": {
    file: "src/http/tokens.ts",
    find: "if (renewal === undefined) {",
    replace: "if (renewal !== null) {",
    test: "http/reads.test.ts",
    title: "a refused token > is renewed once and the read made once more, for 64 callers together",
  },
  "personal data of an answer is kept": {
    file: "src/http/redaction.ts",
    find: "privateKeys.has(key.toLowerCase()) && member !== null && member !== undefined",
    replace: "key === undefined",
    test: "http/writes.test.ts",
    title: "what is kept of an answer > holds no personal data and no token, wherever the service wrote them",
  },
  "a short name is looked for between spaces only": {
    file: "src/http/redaction.ts",
    find: "trimmed.length > 3 || unspaced.test(trimmed)",
    replace: "trimmed.length > 3",
    test: "http/writes.test.ts",
    title:
      "what is kept of an answer > has no name of a script without spaces, wherever it stands in a sentence; a short name of letters is no part of a word",
  },
  "a mobile is looked for only as it was sent": {
    file: "src/http/redaction.ts",
    find: "if (phoneLike.test(trimmed) && digits.length >= 6) return [phonePattern(digits)];",
    replace: "",
    test: "apply/refused.test.ts",
    title:
      "what a service says in a sentence is kept without anything private that is known of the customer, sent or not",
  },
  "what was not sent but is known of the customer is kept": {
    file: "src/apply/scrubbed.ts",
    find: "[...(await ledger.state.load(customer)).privateValues.values()]",
    replace: "[]",
    test: "apply/refused.test.ts",
    title:
      "what a service says in a sentence is kept without anything private that is known of the customer, sent or not",
  },
  "a token that the service repeats is kept": {
    file: "src/http/conclusion.ts",
    find: "const privateValues = [...signed.tokens, ",
    replace: "const privateValues = [",
    test: "http/writes.test.ts",
    title: "what is kept of an answer > holds no personal data and no token, wherever the service wrote them",
  },
  "an id is believed whatever it holds": {
    file: "src/contract/answer-fields.ts",
    find: 'if (id === "") return "the id is empty";',
    replace: "if (id.length >= 0) return undefined;",
    test: "run/odd-answers.test.ts",
    title:
      "an id that the platform answers with > and that is unusable (E2, empty) leaves the outcome unknown; reading decides, nothing is sent twice",
  },
  "an id that an earlier version believed is used": {
    file: "src/operation/state.ts",
    find: "return idFault(id) === undefined;",
    replace: 'return id !== "unusable";',
    test: "run/odd-answers.test.ts",
    title:
      "an id that the platform answers with > and that an earlier version has kept although it is empty is found anew: the customer recovers without a second enterprise",
  },
  "an enterprise whose id was unusable is made a second time": {
    file: "src/plan/enterprise.ts",
    find: "if (input.known.linkUnusable === true) {",
    replace: "if (input.known.link !== undefined) {",
    test: "run/odd-answers.test.ts",
    title:
      "an id that the platform answers with > and that an earlier version has kept although it is empty is found anew: the customer recovers without a second enterprise",
  },
  "a row of E3 for another number is taken for the one that was asked for": {
    file: "src/platform/snapshot.ts",
    find: "row.channelCustomerId !== channelCustomerId || row.channelCode !== channelCode",
    replace: "row.channelCustomerId === undefined",
    test: "run/odd-answers.test.ts",
    title: "a row of E3 that is not what was asked for > is no proof of an E2 whose answer was lost",
  },
  "null in E3 means that there is none": {
    file: "src/platform/snapshot.ts",
    find: 'if (rows === null && this.#settings.nullEnterprises === "ambiguous")',
    replace: 'if (rows === null && this.#settings.nullEnterprises !== "none" && channelCustomerId === "")',
    test: "run/odd-answers.test.ts",
    title:
      "E3 that says neither that there is a customer nor that there is none > (null) makes nothing: the customer waits and the other one is served; a setting may say that it means none",
  },
  "the first reading of an enterprise's customers is the last": {
    file: "src/run/customer-snapshot.ts",
    find: "if (left === 0 && !(young && readings < settle.readings)) return undefined;",
    replace: "if (left >= 0) return undefined;",
    test: "run/odd-answers.test.ts",
    title:
      "an enterprise of which E3 shows only some customers at first > (the one that takes no orders) is read again before its order is blocked, within the same run",
  },
  "an order that is shown in part counts as placed": {
    file: "src/apply/adopt-orders.ts",
    find: "if (missing.length > 0) partial.set(",
    replace: "if (missing.length > 99) partial.set(",
    test: "run/taken-over.test.ts",
    title:
      "an order of an enterprise that somebody else made > of which only a part is shown is not taken for placed, nor placed: it waits, and says what is missing, until all of it is shown",
  },
  "an asset without anything in it proves that an order is not there": {
    file: "src/platform/snapshot.ts",
    find: 'this.#settings.emptyAssets === "ambiguous" && products',
    replace: 'this.#settings.emptyAssets !== "ambiguous" && products',
    test: "run/taken-over.test.ts",
    title:
      "an order of an enterprise that somebody else made > is not placed again where M7 shows an asset without anything in it (empty lists): it waits",
  },
  "an order that is not shown is placed although its licence type may never be shown": {
    file: "src/apply/adopt-orders.ts",
    find: "if (!(await isShown(this.#deps, item.licenseType))) hiddenType = item.licenseType;",
    replace: "",
    test: "run/taken-over.test.ts",
    title:
      "an order of an enterprise that somebody else made > is not placed again where its licence type is not known to be shown: it waits, and says which (A43)",
  },
  "a new account with another ending than the enterprise code is nobody's": {
    file: "src/operation/add-staff.ts",
    find: "if (strangers) {",
    replace: "if (strangers && known.link === undefined) {",
    test: "run/odd-staff.test.ts",
    title:
      "a person whom M5 shows with another ending than the enterprise code > and whose M1 was not answered is not added in every run: a person is asked, and the other customer's people are served",
  },
  "a person whose account has another ending is added": {
    file: "src/plan/staff.ts",
    find: 'return stranger ? { kind: "blocked", block: otherEnding } : { kind: "to-add" };',
    replace: 'return stranger && userName === "" ? { kind: "blocked", block: otherEnding } : { kind: "to-add" };',
    test: "run/odd-staff.test.ts",
    title:
      "a person whom M5 shows with another ending than the enterprise code > is not added by a plan either: the record waits, and the others go on",
  },
  "the administrator's id in M1's answer is linked to a new person": {
    file: "src/operation/add-staff.ts",
    find: "if (known.protectedMembers.has(globalId)) {",
    replace: "if (known.link === undefined) {",
    test: "run/odd-staff.test.ts",
    title:
      "an id in M1's answer that cannot be the new person's > (the administrator's) links nobody: the operation is parked, and done with the id that M5 shows",
  },
  "an empty holder in M6 is somebody": {
    file: "src/contract/answer-fields.ts",
    find: '.transform((id) => (id === undefined || id === "" ? null : id))',
    replace: '.transform((id) => (id === undefined ? null : id === "" ? "nobody" : id))',
    test: "run/odd-staff.test.ts",
    title: "an asset number that M6 shows with an empty holder > is held by nobody: it is granted",
  },
};
