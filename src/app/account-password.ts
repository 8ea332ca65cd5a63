import { randomBytes, scrypt, timingSafeEqual } from "node:crypto";
import pLimit from "p-limit";

/** How much work one try is. */
interface Cost {
  n: number;
  r: number;
  p: number;
}

interface HashLine extends Cost {
  salt: Buffer;
  hash: Buffer;
}

const ownCost: Cost = { n: 32_768, r: 8, p: 1 };
const hashBytes = 32;
const mostBytes = 256 * 1024 * 1024;
export const shortestPassword = 12;
export const longestPassword = 1_000;

/** The line that stands in a secret for a password: `scrypt:N:r:p:SALT:HASH`. Nobody can sign in with the line. */
export async function hashLineOf(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt, ownCost);
  const { n, r, p } = ownCost;
  return ["scrypt", n, r, p, salt.toString("base64url"), hash.toString("base64url")].join(":");
}

/** Whether a text is such a line, and of a cost that is neither too little nor too much. */
export function isHashLine(text: string): boolean {
  return read(text) !== undefined;
}

/** How many passwords are tried at once, and how many may wait: each takes much memory and time. */
const atOnce = pLimit(2);
const mostWaiting = 20;

/** Against what the password of a name that nobody has is tried, so that it takes as long as any other. */
const nobody: HashLine = { ...ownCost, salt: Buffer.alloc(16, 7), hash: Buffer.alloc(hashBytes) };

/**
 * Whether a password is that of a line; `busy` where too many others wait. Without a line it takes as long, in vain.
 */
export async function isPassword(password: string, line: string | undefined): Promise<boolean | "busy"> {
  if (atOnce.pendingCount >= mostWaiting) return "busy";
  const known = line === undefined ? undefined : read(line);
  const against = known ?? nobody;
  const hash = await atOnce(async () => await derive(password.slice(0, longestPassword), against.salt, against));
  return timingSafeEqual(hash, against.hash) && known !== undefined;
}

function read(line: string): HashLine | undefined {
  const [, n, r, p, salt, hash] =
    /^scrypt:(\d{5,7}):(\d{1,2}):(\d{1,2}):([\w-]{22,86}):([\w-]{43})$/u.exec(line.trim()) ?? [];
  const cost = { n: Number(n), r: Number(r), p: Number(p) };
  if (salt === undefined || hash === undefined) return undefined;
  const isFit = cost.n >= 16_384 && (cost.n & (cost.n - 1)) === 0 && cost.r >= 8 && cost.p >= 1 && cost.p <= 16;
  if (!isFit || 128 * cost.n * cost.r > mostBytes) return undefined;
  return { ...cost, salt: Buffer.from(salt, "base64url"), hash: Buffer.from(hash, "base64url") };
}

/** The same letters, however the keyboard composes them, are the same password. */
async function derive(password: string, salt: Buffer, { n, r, p }: Cost): Promise<Buffer> {
  return await new Promise((resolve, reject) => {
    const options = { N: n, r, p, maxmem: 256 * n * r };
    scrypt(password.normalize("NFKC"), salt, hashBytes, options, (error, hash) =>
      error === null ? resolve(hash) : reject(error),
    );
  });
}
