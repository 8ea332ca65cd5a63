import type { Json } from "./canonical-json.ts";

/** Words of protocols. Others may be names, so common names (max, will, grant, long) are left out. */
const vocabulary: ReadonlySet<string> = new Set(
  `a about above absent accept accepted access account action active address after again all allow allowed already and
  another answer any api app application are argument array as asset assets assigned at authentication authorization
  available bad balance be because been before begin below between blank body boolean both bound broken but by call
  calls can cannot cause change changed character characters check client closed code codes column company conflict
  connection contain contains content correct could count create created credentials currency current custom customer
  customers data database date day days default delete deleted denied department details did different digits
  disabled do does doesn duplicate duplicated during each email empty enabled end ended ending endpoint enough
  enterprise error errors exceed exceeded exceeds exception exceptions exist existing exists expected expired expires
  extra failed failure false fault feature field fields file filter first for forbidden format found from full get
  given gone greater group has have header hidden hour hours http https id identifier ids if in inactive incorrect
  index inside instance insufficient integer internal into invalid is it item items its json key keys kind language
  larger last later least length less letter letters licence licences license licenses limit limited limits line list
  locator lock locked locks login longer maintenance malformed many match matched maximum member members message
  method minimum minute minutes missing mobile module month months more most must name names needed negative network
  new next no node nodes not note nothing null number numbers object occupied of off old on one only operation or order orders
  other out outside package page pages parameter parameters parent part password path pending period permission
  permitted phone place please point position positive present product products query quota range rate read record
  records refresh refused reject rejected remote renew repeated request requested requests require required requires
  reset resource response result retry right rights role root row rows same schema scope second seconds secret
  section see sequence server service session set short should size small some start started state status still
  string subscription succeeded success such suffix support supported suspended syntax system table taken term text
  than that the their them then there these this time timeout timestamp to token too total trial true try two type
  unable unauthorized under undefined unexpected unique unit unknown unpaid unsupported until update updated upload
  url usage use used user username users valid validation value values version wait was wasn we were when where which
  while with without write wrong busy gateway log much offline overloaded redirect redacted scheduled sign signed
  temporarily temporary throttled unavailable year years you your zero zone`.split(/\s+/u),
);

/** A count or a position, not part of a phone number. */
const shortNumber = /^\d{1,3}$/u;
const left = "…";

/** Keeps words of protocols, short numbers and `ours` (our field names). The rest may name a person. May be empty. */
export function toldWords(text: string, ours: ReadonlySet<string> = new Set()): string {
  const tokens = text.match(/[\p{L}\p{N}\p{M}_]+|[^\p{L}\p{N}\p{M}_]+/gu) ?? [];
  const isWord = (token: string): boolean => /[\p{L}\p{N}\p{M}_]/u.test(token);
  const isNumber = (token: string | undefined): boolean => token !== undefined && /\d/u.test(token);
  let isTelling = false;
  const told = tokens.map((token, index) => {
    if (!isWord(token)) return token.replaceAll(/[^\s.,:;()'"[\]/=<>_-]/gu, " ");
    if (shortNumber.test(token)) return isNumber(tokens[index - 2]) || isNumber(tokens[index + 2]) ? left : token;
    if (!ours.has(token) && !partsOf(token).every((part) => vocabulary.has(part.toLowerCase()))) return left;
    isTelling = true;
    return token;
  });
  if (!isTelling) return "";
  return told
    .join("")
    .replaceAll(/[("'[]*…(?:[^\p{L}\p{N}…]*…)*[)"'\]]*/gu, left)
    .replaceAll(/\s+/gu, " ")
    .trim();
}

/** Also a name, but not in an OAuth code. */
const ofCodes: ReadonlySet<string> = new Set(["grant"]);

/** Hides words that may name a person. Undefined unless it looks like a code: a number, or a protocol's word. */
export function toldCode(text: string): string | undefined {
  if (!/^[\w.:-]{1,80}$/u.test(text)) return undefined;
  if (/^(?:0x[0-9a-f]{1,8}|[A-Z]{0,3}-?\d{1,6})$/iu.test(text)) return text;
  if (!partsOf(text).some((part) => vocabulary.has(part.toLowerCase()))) return undefined;
  // Short numbers beside each other may be a grouped phone number.
  if (/\d[^A-Za-z\d]+\d/u.test(text)) return undefined;
  const isTold = (part: string): boolean =>
    vocabulary.has(part.toLowerCase()) || ofCodes.has(part.toLowerCase()) || shortNumber.test(part);
  return text
    .replaceAll(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/gu, (part) => (isTold(part) ? part : left))
    .replaceAll(/…(?:[^A-Za-z\d]*…)+/gu, left);
}

function partsOf(text: string): string[] {
  return text.split(/[_.:-]|(?<=[a-z])(?=[A-Z])/u);
}

export function namesIn(value: Json): ReadonlySet<string> {
  const names = new Set<string>();
  const visit = (item: Json | undefined): void => {
    if (Array.isArray(item)) item.forEach(visit);
    else if (typeof item === "object" && item !== null)
      for (const [name, member] of Object.entries(item)) {
        names.add(name);
        visit(member);
      }
  };
  visit(value);
  return names;
}
