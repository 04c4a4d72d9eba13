// Which addresses are not for requests whose target others may choose: everything that is not the public
// internet. IPv4 is a list of what is refused; IPv6 a list of what is allowed, less exceptions, because most
// of its space has no meaning yet.

import { BlockList, isIPv4, isIPv6, SocketAddress } from "node:net";

const V4: readonly (readonly [string, number, string])[] = [
  ["0.0.0.0", 8, "unspecified"],
  ["10.0.0.0", 8, "private"],
  ["100.64.0.0", 10, "shared by a carrier"],
  ["127.0.0.0", 8, "loopback"],
  ["169.254.0.0", 16, "link-local"],
  ["172.16.0.0", 12, "private"],
  ["192.0.0.0", 24, "reserved"],
  ["192.0.2.0", 24, "documentation"],
  ["192.88.99.0", 24, "a 6to4 relay"],
  ["192.168.0.0", 16, "private"],
  ["198.18.0.0", 15, "for benchmarks"],
  ["198.51.100.0", 24, "documentation"],
  ["203.0.113.0", 24, "documentation"],
  ["224.0.0.0", 4, "multicast"],
  ["240.0.0.0", 4, "reserved"],
  // The host agent of a large cloud answers on this public address.
  ["168.63.129.16", 32, "metadata"],
];

/** Parts of 2000::/3, the public unicast space, that lead elsewhere. */
const V6: readonly (readonly [string, number, string])[] = [
  ["2001::", 23, "reserved or tunnelled"],
  ["2001:db8::", 32, "documentation"],
  ["2002::", 16, "6to4"],
  ["3fff::", 20, "documentation"],
];

const lists = (ranges: typeof V4, family: "ipv4" | "ipv6") =>
  ranges.map(([network, prefix, word]) => {
    const list = new BlockList();
    list.addSubnet(network, prefix, family);
    return { list, word };
  });

const refusedV4 = lists(V4, "ipv4");
const refusedV6 = lists(V6, "ipv6");
const publicV6 = lists([["2000::", 3, "public"]], "ipv6");
const translated = lists([["64:ff9b::", 96, "translated"]], "ipv6");

/** One word for why requests do not go there; undefined for an address of the public internet. */
export function blockedReason(address: string): string | undefined {
  if (isIPv4(address)) return refusedV4.find(({ list }) => list.check(address, "ipv4"))?.word;
  // A zone (`fe80::1%eth0`) names an interface of this machine.
  if (!isIPv6(address) || address.includes("%")) return "not an address";
  const inside = (among: typeof refusedV4) => among.find(({ list }) => list.check(address, "ipv6"))?.word;
  // NAT64 carries an IPv4 address in its last 32 bits; the other ways to embed one are refused as a whole.
  if (inside(translated) !== undefined) return blockedReason(lastBitsAsV4(address));
  if (inside(publicV6) === undefined) return wordOfLocalV6(address);
  return inside(refusedV6);
}

function wordOfLocalV6(address: string): string {
  const first = Number.parseInt(address, 16);
  if (address.startsWith("::")) return "loopback, unspecified or mapped";
  if (first >= 0xfc00 && first < 0xfe00) return "private";
  if (first >= 0xfe80 && first < 0xfec0) return "link-local";
  return first >= 0xff00 ? "multicast" : "reserved";
}

function lastBitsAsV4(address: string): string {
  const text = new SocketAddress({ address, family: "ipv6" }).address;
  const dotted = /:(\d+\.\d+\.\d+\.\d+)$/.exec(text)?.[1];
  if (dotted !== undefined) return dotted;
  const [low = "0", high = "0"] = text.split(":").reverse();
  const bits = [high, low].map((group) => Number.parseInt(group === "" ? "0" : group, 16));
  return bits.flatMap((group) => [group >> 8, group & 0xff]).join(".");
}
