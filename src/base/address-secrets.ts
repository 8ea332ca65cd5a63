const secretName =
  /key(?!word)|token|secret|passw|pwd|credential|auth(?!or)|authori[sz]|(?:^|[^a-z])sig(?:nature)?(?![a-z])/iu;

const surelySecret = /(?:token|secret|passw(?:or)?d|pwd|passphrase|credentials?|api[_-]?key)$/iu;

export function isSecretParameter(name: string, value: string): boolean {
  return secretName.test(name) && (surelySecret.test(name) || (value.length >= 8 && /\d/u.test(value)));
}

/** A part of a path that nobody types. It makes the address of a webhook secret. */
const unguessable = /^(?=.*\d)(?=.*[A-Za-z])[\w~.-]{16,}$/u;

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
