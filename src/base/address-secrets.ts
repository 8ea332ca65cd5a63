/** Names of query parameters that carry what only we may know. */
const secretName =
  /key(?!word)|token|secret|passw|pwd|credential|auth(?!or)|authori[sz]|(?:^|[^a-z])sig(?:nature)?(?![a-z])/iu;

/** Names of what is a secret, whatever it looks like. */
const surelySecret = /(?:token|secret|passw(?:or)?d|pwd|passphrase|credentials?|api[_-]?key)$/iu;

/** Whether a parameter or a header carries what only we may know; `sort_key=name` carries the name of a field. */
export function isSecretParameter(name: string, value: string): boolean {
  return secretName.test(name) && (surelySecret.test(name) || (value.length >= 8 && /\d/u.test(value)));
}

/** A part of a path that nobody types: the address of a webhook is a secret by it. */
const unguessable = /^(?=.*\d)(?=.*[A-Za-z])[\w~.-]{16,}$/u;

/**
 * The secrets that an address holds: password, parameters that carry one and, of a webhook, what makes its path
 * unguessable.
 */
export function secretsOfAddress(address: string, { isHook }: { isHook: boolean }): string[] {
  const base = "http://nowhere.invalid";
  if (!URL.canParse(address, base)) return [];
  const { password, searchParams, pathname } = new URL(address, base);
  const parameters = [...searchParams]
    .filter(([name, value]) => isSecretParameter(name, value))
    .map(([, value]) => value);
  const steps = isHook ? pathname.split("/").filter((step) => unguessable.test(step)) : [];
  return [decodedPart(password), ...parameters, ...steps].filter((text) => text !== "");
}

function decodedPart(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
