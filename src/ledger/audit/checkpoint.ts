import { createPrivateKey, createPublicKey, hash, sign, verify, type KeyObject } from "node:crypto";

/** A head of the audit log as text: a C2SP tlog-checkpoint, signed as a C2SP signed-note with Ed25519. Pure. */
export interface Checkpoint {
  /** `crm-sync/` and the name of the ledger. */
  origin: string;
  /** The root is in hexadecimal. */
  size: number;
  root: string;
  sequence: number;
  hash: string;
  at: string;
}

const ed25519 = 1;
/** A verifier key has a `+` after it. */
const originLine = /^crm-sync\/[^\s+]+$/u;
const signatureLine = /^— (\S+) ([A-Za-z0-9+/=]+)$/u;

export function checkpointText({ origin, size, root, sequence, hash: last, at }: Checkpoint): string {
  const encoded = Buffer.from(root, "hex").toString("base64");
  return `${[origin, size, encoded, `entry ${sequence}`, `hash ${last}`, `time ${at}`].join("\n")}\n`;
}

/** Reads PEM (PKCS #8). Undefined if it is no Ed25519 private key. */
export function signingKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === "ed25519" ? key : undefined;
  } catch {
    return undefined;
  }
}

export function signedNote(checkpoint: Checkpoint, key: KeyObject): string {
  const { origin } = checkpoint;
  const text = checkpointText(checkpoint);
  return `${text}\n— ${origin} ${signatureOf(text, origin, key)}\n`;
}

/** The signature in base64, after the id of the key. */
export function signatureOf(text: string, origin: string, key: KeyObject): string {
  return Buffer.concat([keyId(origin, rawKey(key)), sign(null, Buffer.from(text), key)]).toString("base64");
}

/** The public key in the signed-note format: name, id and key. */
export function verifierKey(origin: string, key: KeyObject): string {
  const raw = rawKey(key);
  const encoded = Buffer.concat([Buffer.from([ed25519]), raw]).toString("base64");
  return `${origin}+${keyId(origin, raw).toString("hex")}+${encoded}`;
}

/** `isSigned` says whether this verifier key signed it. */
export interface KeptCheckpoint extends Checkpoint {
  isSigned: (verifier: string) => boolean;
}

/** Skips other text before each checkpoint. Throws a TypeError if one was changed or is cut off. */
export function readNotes(kept: string): KeptCheckpoint[] {
  const notes = kept.replaceAll("\r\n", "\n").split(/^(?=crm-sync\/)/mu);
  return notes.flatMap((note) => {
    const [origin = ""] = note.split("\n", 1);
    if (!originLine.test(origin)) return [];
    const read = readNote(note);
    if (read === undefined)
      throw new TypeError(`a checkpoint of ${origin} in it cannot be read: somebody changed it, or it breaks off`);
    return [read];
  });
}

function readNote(note: string): KeptCheckpoint | undefined {
  const [text = "", signatures = ""] = note.split("\n\n", 2);
  const [origin = "", size = "", root = "", ...more] = text.split("\n");
  const member = (name: string): string =>
    more.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? "";
  const bytes = Buffer.from(root, "base64");
  const sequence = member("entry");
  const areNumbers = [size, sequence].every((number) => /^\d{1,15}$/u.test(number));
  if (!areNumbers || bytes.length !== 32 || !/^[0-9a-f]{64}$/u.test(member("hash"))) return undefined;
  return {
    origin,
    size: Number(size),
    root: bytes.toString("hex"),
    sequence: Number(sequence),
    hash: member("hash"),
    at: member("time"),
    isSigned: (verifier) =>
      signatures.split("\n").some((line) => {
        const [, name, signature = ""] = signatureLine.exec(line) ?? [];
        return name === origin && isSignedBy(verifier, name, `${text}\n`, signature);
      }),
  };
}

export function isSignedBy(verifier: string, name: string, text: string, encodedSignature: string): boolean {
  const signature = Buffer.from(encodedSignature, "base64");
  const [keyName, id, ...encoded] = verifier.split("+");
  const key = Buffer.from(encoded.join("+"), "base64");
  if (keyName !== name || key[0] !== ed25519 || key.length !== 33) return false;
  const raw = key.subarray(1);
  if (id !== keyId(name, raw).toString("hex") || !signature.subarray(0, 4).equals(keyId(name, raw))) return false;
  const jwk = { kty: "OKP", crv: "Ed25519", x: raw.toString("base64url") };
  return verify(null, Buffer.from(text), createPublicKey({ key: jwk, format: "jwk" }), signature.subarray(4));
}

function rawKey(key: KeyObject): Buffer {
  const { x = "" } = createPublicKey(key).export({ format: "jwk" });
  return Buffer.from(x, "base64url");
}

function keyId(name: string, raw: Buffer): Buffer {
  const bytes = Buffer.concat([Buffer.from(`${name}\n`), Buffer.from([ed25519]), raw]);
  return hash("sha256", bytes, "buffer").subarray(0, 4);
}
