// Personal data in a text, by form: addresses of mail, numbers of phones, cards, accounts and social
// security. Numbers with check digits must have them right, so that order numbers are not taken for cards.

export type PersonalData = "email" | "phone" | "card" | "iban" | "social security number";

/** The first kind that is found. */
export function personalData(text: string): PersonalData | undefined {
  if (/[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,4}/.test(text)) return "email";
  if (/(?<![\d-])\d{3}-\d{2}-\d{4}(?![\d-])/.test(text)) return "social security number";
  for (const [found] of text.matchAll(/(?<!\d)\d(?:[ -]?\d){12,18}(?!\d)/g))
    if (hasCardDigits(found)) return "card";
  for (const [found] of text.matchAll(/\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{1,4}){3,8}\b/g))
    if (hasAccountDigits(found)) return "iban";
  if (/(?<![\w.])(?:\+\d{1,3}[ .-]?)?\(?\d{3}\)?[ .-]\d{3}[ .-]\d{4}(?!\d)/.test(text)) return "phone";
  return /(?<![\w+])\+\d{1,3}(?:[ .-]?\d{2,4}){3,4}(?!\d)/.test(text) ? "phone" : undefined;
}

/** Luhn's sum. */
function hasCardDigits(text: string): boolean {
  let sum = 0;
  for (const [index, digit] of [...text.replace(/\D/g, "")].reverse().entries()) {
    const value = Number(digit) * (index % 2 === 1 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** ISO 13616: the rearranged number is 1 modulo 97. */
function hasAccountDigits(text: string): boolean {
  const account = text.replaceAll(" ", "");
  if (account.length < 15 || account.length > 34) return false;
  let rest = 0;
  for (const character of account.slice(4) + account.slice(0, 4)) {
    const digits = String(Number.parseInt(character, 36));
    for (const digit of digits) rest = (rest * 10 + Number(digit)) % 97;
  }
  return rest === 1;
}
