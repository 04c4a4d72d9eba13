import { describe, expect, test } from "vitest";
import { growthOf, isSuperLinear } from "./super-linear.ts";

const safe: readonly string[] = [
  "^[a-z]+(-[a-z]+)*$",
  "^\\d{4}-\\d{2}$",
  "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}(\\.\\d+)?Z$",
  "^(0|[1-9]\\d*)\\.(0|[1-9]\\d*)\\.(0|[1-9]\\d*)(?:-((?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)" +
    "(?:\\.(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$",
  "^[^@]+@[^@]+$",
  "^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$",
  "^(foo|bar)+$",
  "^(?:foo|far|bar|baz|bazaar)*$",
  "^[A-Za-z_][A-Za-z0-9_]*$",
  "^-?\\d+(\\.\\d+)?([eE][+-]?\\d+)?$",
  "^#(?:[0-9a-fA-F]{3}){1,2}$",
  "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$",
  "^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$",
  "^https?://[^\\s/]+(/\\S*)?$",
  "^(?:\\d{1,3}\\.){3}\\d{1,3}$",
  "^\\+?[1-9]\\d{1,14}$",
  "^(?=.*[a-z])(?=.*[A-Z])(?=.*\\d).{8,}$",
  "\\s+$",
  "^\\s+|\\s+$",
  '"(?:[^"\\\\]|\\\\.)*"',
  "/\\*[^*]*\\*+(?:[^/*][^*]*\\*+)*/",
  "^\\w+(?:\\s\\w+)*$",
  "^[A-Z]{2,3}-\\d+$",
  "^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\\.)+[a-z]{2,}$",
  "^(?:[01]\\d|2[0-3]):[0-5]\\d$",
  "error|warning|fatal",
  "^.*foo.*bar$",
  "a+b+c+",
  "^([0-9a-f]{12})+$",
  "^(\\([^()]*\\)|[^()])*$",
  "\\bpassword\\b",
  "^(['\"])(.*?)\\1$",
  "^\\p{Lu}\\p{Ll}+(?: \\p{Lu}\\p{Ll}+)*$",
  "^((?!end).)*end$",
  "",
];

const exponential: readonly string[] = [
  "(a+)+",
  "(a+)+$",
  "^(a*)*$",
  "^(a|a)*$",
  "^(a|aa)+$",
  "^(a|a?)+$",
  "(.*,)*x",
  "^([a-zA-Z]+)*$",
  "(.*a){20}",
  "^(\\w+\\s?)*$",
  "^(\\d+|\\d+\\.)+$",
  "^(([a-z])+.)+[A-Z]([a-z])+$",
  "^(a?b?)*$",
  "^(a(b?|c?))*d$",
  "(x+x+)+y",
  "^([a-z]{1,20})+$",
  "^(?:[\\w-]|\\d)+@",
  "(?:.|\\n)*(?:.|\\d)*z",
  "^(?=(a+)+b)c",
  "([^,]*,?)*;",
  "^((ab)*)*$",
  "^(\\s*\\w*\\s*)*$",
  "^(?:(?:a|b)|[ab])+c",
  "^([A-Z]|[^a-z])*!$",
  "(\\u0061|\\x61)+!",
];

const polynomial: readonly string[] = [
  "\\d+\\d+$",
  ".*.*x",
  "^[a-z]+[a-z0-9]*$",
  "^\\s*,?\\s*x",
  "^(ab)*(ab)*c",
  "^\\w+\\d+!$",
  "^.*?\\s*:$",
  "(a+){3}b",
  "\\s*\\s+\\S",
  "^[\\w.]*[\\w-]*@",
];

const unreadable: readonly string[] = [
  "(a+",
  "a**",
  "[z-a]",
  "(?<!",
  "a)",
  "\\",
  `${"(".repeat(500)}a${")".repeat(500)}`,
];

describe("patterns that backtrack", () => {
  test.each(safe)("%s is not reported", (pattern) => {
    expect(growthOf(pattern)).toBeUndefined();
  });

  test.each(exponential)("%s grows exponentially", (pattern) => {
    expect(growthOf(pattern)).toBe("exponential");
  });

  test.each(polynomial)("%s grows polynomially", (pattern) => {
    expect(growthOf(pattern)).toBe("polynomial");
  });

  test.each(unreadable)("%s is left to the rule about patterns that do not compile", (pattern) => {
    expect(isSuperLinear(pattern)).toBe(false);
  });

  test("every safe pattern compiles, so the table is about real patterns", () => {
    for (const pattern of [...safe, ...exponential, ...polynomial])
      expect(() => new RegExp(pattern, "u")).not.toThrow();
  });

  test("a pattern of thousands of alternatives is judged without running away", () => {
    const words = Array.from({ length: 2000 }, (_, i) => `word${i}`).join("|");
    expect(isSuperLinear(`^(?:${words})+$`)).toBe(false);
  });
});
