// Headers whose values are secrets. A configuration is kept with every run, so their values come from the
// environment and are never written into it.

const SECRET = /^(proxy-)?authorization$|cookie|token|secret|(api|access|auth|subscription)-?key/i;

export const isSecretHeader = (name: string): boolean => SECRET.test(name);
