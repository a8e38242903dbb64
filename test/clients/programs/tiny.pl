use strict;
use warnings;
use HTTP::Tiny;

$| = 1;
my $agent = HTTP::Tiny->new(verify_SSL => 1, default_headers => { Authorization => "Bearer $ENV{OPENAI_API_KEY}" });
my $plain = $agent->get('https://api.openai.com/v1/models');
print "status $plain->{status} $plain->{reason}\n";
die $plain->{content} unless $plain->{success};
$agent->get('https://api.openai.com/v1/events', { data_callback => sub { print $_[0] } });
