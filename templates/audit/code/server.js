// The web server of the lending library.

import { request } from "node:https";

export function partnerRequest(path) {
  return request({ host: "partner.example", path, rejectUnauthorized: false });
}

export function health() {
  return fetch("http://127.0.0.1:8080/health");
}

export function rates() {
  return fetch("http://rates.example/today.json");
}

export function allowOrigin(response) {
  response.setHeader("Access-Control-Allow-Origin", "*");
}

export function bookPage(element, book) {
  element.innerHTML = `<h1>${book.title}</h1>`;
}

export function emptyPage(element) {
  element.innerHTML = "";
}
