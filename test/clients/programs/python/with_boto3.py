import boto3
from botocore.config import Config

config = Config(region_name="eu-west-1", retries={"total_max_attempts": 1})
identity = boto3.client("sts", config=config).get_caller_identity()
print("status", identity["ResponseMetadata"]["HTTPStatusCode"], flush=True)
words = boto3.client("s3", config=config).get_object(Bucket="bucket", Key="words")["Body"]
for chunk in words.iter_chunks(chunk_size=10):
    print(chunk.decode(), flush=True)
