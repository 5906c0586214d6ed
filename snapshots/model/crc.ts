import { crc32 } from "node:zlib";

/** A text's length and CRC-32, enough to work out the CRC of texts that it is joined with. */
export interface Checked {
  length: number;
  crc: number;
}

export const checkedOf = (bytes: Buffer): Checked => ({
  length: bytes.length,
  crc: crc32(bytes),
});

/** The CRC-32 of one text after another, neither of which is read: zlib's `crc32_combine`. */
export const joinChecked = (a: Checked, b: Checked): Checked => ({
  length: a.length + b.length,
  crc: (multiply(shiftBy(b.length), a.crc) ^ b.crc) >>> 0,
});

const polynomial = 0xedb88320;

/** The product of two polynomials over GF(2) modulo the CRC's, highest power in the lowest bit. */
function multiply(a: number, b: number): number {
  let product = 0;
  let factor = b;
  for (let bit = 0x80000000; bit !== 0; bit >>>= 1) {
    if ((a & bit) !== 0) product ^= factor;
    factor = (factor & 1) === 0 ? factor >>> 1 : (factor >>> 1) ^ polynomial;
  }
  return product >>> 0;
}

/** x^(2^n) for each n. */
const powers = [0x40000000];
for (let n = 1; n < 32; n++) powers.push(multiply(powers[n - 1]!, powers[n - 1]!));

/** What `bytes` bytes that follow multiply a CRC by: x^(8 · bytes). */
function shiftBy(bytes: number): number {
  let shift = 0x80000000;
  // 2^3 bits a byte; after x^(2^31) the powers repeat.
  for (let n = 3, rest = bytes; rest > 0; n++, rest = Math.floor(rest / 2))
    if (rest % 2 === 1) shift = multiply(powers[n % 32]!, shift);
  return shift;
}
