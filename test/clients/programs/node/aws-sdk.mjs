import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts'

const options = { region: 'eu-west-1', maxAttempts: 1 }
const { $metadata } = await new STSClient(options).send(new GetCallerIdentityCommand())
console.log('status', $metadata.httpStatusCode)
const { Body } = await new S3Client(options).send(new GetObjectCommand({ Bucket: 'bucket', Key: 'words' }))
for await (const chunk of Body) process.stdout.write(chunk)
