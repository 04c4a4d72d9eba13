// Members of the lending library: signing in and resetting a password.

import { createHash, randomBytes, scryptSync, timingSafeEqual } from "node:crypto";

export function hashPassword(password) {
  const salt = randomBytes(16);
  return `${salt.toString("hex")}:${scryptSync(password, salt, 32).toString("hex")}`;
}

export function samePassword(password, stored) {
  const [salt, hash] = stored.split(":");
  return timingSafeEqual(scryptSync(password, Buffer.from(salt, "hex"), 32), Buffer.from(hash, "hex"));
}

/** The picture of a member is found by the address, as the picture service wants it. */
export function pictureUrl(mail) {
  return `https://pictures.example/${createHash("md5").update(mail.trim().toLowerCase()).digest("hex")}`;
}

export function resetToken() {
  return String(Math.random()).slice(2);
}

export async function findMember(db, mail) {
  return db.query("SELECT * FROM members WHERE mail = '" + mail + "'");
}

export function signOutLink(request) {
  return request.query.next.startsWith("/") ? request.query.next : "/";
}
