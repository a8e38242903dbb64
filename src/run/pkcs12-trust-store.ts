import { certificatesIn, der } from '../network/index.ts'

/**
 * The certificates of a PEM bundle as a PKCS#12 trust store (RFC 7292) that Java reads without a password: bags in the
 * clear, no MAC, each marked with Oracle's trustedKeyUsage, without which Java takes no certificate bag for trusted.
 * Made here because `keytool` takes a second for it.
 */
export function pkcs12TrustStore(bundle: string): Buffer {
  const bags = certificatesIn(bundle).map(bodyOf).map(trustedBag)
  const authenticatedSafe = der.sequence(contentInfo(der.sequence(...bags)))
  return der.sequence(der.positiveInteger(Buffer.of(3)), contentInfo(authenticatedSafe))
}

function bodyOf(pem: string): Buffer {
  return Buffer.from(pem.replace(/-----[A-Z ]+-----/g, ''), 'base64')
}

function trustedBag(certificate: Buffer, index: number): Buffer {
  const bag = der.sequence(der.oid('x509Certificate'), der.explicit(der.octetString(certificate)))
  const attributes = der.set(
    der.sequence(der.oid('friendlyName'), der.set(der.bmpString(`root-${index}`))),
    der.sequence(der.oid('trustedKeyUsage'), der.set(der.oid('anyExtendedKeyUsage'))),
  )
  return der.sequence(der.oid('certBag'), der.explicit(bag), attributes)
}

function contentInfo(content: Buffer): Buffer {
  return der.sequence(der.oid('data'), der.explicit(der.octetString(content)))
}
